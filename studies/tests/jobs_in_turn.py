"""The jobs of a study as other processes get them, in this process: starting one takes seconds."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence

from assay_studies.workers import Job


def one_by_one(
    jobs: Sequence[Job], workers: int, say: Callable[[str], None], keep: Callable[[str, float], None]
) -> None:
    """Stands in the place of `assay_studies.study.work`: each job when its turn comes, pickled and unpickled."""
    waiting, done = list(jobs), set[str]()
    while waiting:
        job = next(one for one in waiting if done.issuperset(one.after))
        pickle.loads(pickle.dumps(job.do))()
        waiting.remove(job)
        done.add(job.name)
        keep(job.name, 1.0)
        say(f"{job.name}: 0 s")
