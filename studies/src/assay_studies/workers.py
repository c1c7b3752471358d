"""Work that several processes share: `assay study NAME --workers 16`.

    work([Job("base", train), Job("adversary", oppose, after=("base",))], workers=2, say=print)

A job leaves what it makes in the directory of the study, where the parts find it; one that was done before ends at
once. Small models leave most of a card, and most of the cores, idle: many of them train side by side in the time of a
few. A job is done as it would be by a single process, but for the number of threads, which the processes share.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from signal import SIG_IGN, SIGINT, signal
from sys import maxsize
from threading import Thread
from time import perf_counter, sleep

from joblib.externals.loky import ProcessPoolExecutor, process_executor
from joblib.externals.loky.process_executor import BrokenProcessPool

from assay.errors import Stopped

Do = Callable[[], object]
_LOOK = 0.5  # seconds between two looks at whether the parent is there


@dataclass(frozen=True)
class Job:
    """Something to do in another process, once the jobs that it comes `after` are done."""

    name: str
    do: Do
    after: tuple[str, ...] = ()


def work(
    jobs: Sequence[Job],
    workers: int,
    say: Callable[[str], None],
    keep: Callable[[str, float], None] = lambda name, seconds: None,
) -> None:
    """All jobs; of those that need not wait the first comes first. After an error no other job begins.

    `keep` is called with the name of each finished job and its seconds.
    """
    if not jobs:
        return
    threads = max(1, (os.cpu_count() or 1) // workers)
    pool = ProcessPoolExecutor(workers, initializer=_begin, initargs=(os.getpid(),), env=_environment(threads))
    try:
        for done, (name, seconds) in enumerate(_finished(list(jobs), workers, pool), start=1):
            keep(name, seconds)
            say(f"{name}: {seconds:.0f} s ({done} of {len(jobs)})")
    except BrokenProcessPool:
        raise Stopped(
            "a worker ended without a word: it was killed, or memory ran out. What is finished is kept; "
            "the same command goes on from there, with fewer --workers if memory is short."
        ) from None
    except KeyboardInterrupt:
        pool.shutdown(kill_workers=True)  # what is half done has its checkpoint; waiting, or its thread may outlive us
        raise
    finally:
        pool.shutdown()


def _finished(waiting: list[Job], workers: int, pool: ProcessPoolExecutor) -> Iterator[tuple[str, float]]:
    """The names of the jobs and how long they took, as they end."""
    running: dict[Future[float], Job] = {}
    finished: set[str] = set()
    while waiting or running:
        ready = [job for job in waiting if finished.issuperset(job.after)][: workers - len(running)]
        running |= {pool.submit(_timed, job.do): job for job in ready}
        waiting = [job for job in waiting if job not in ready]
        if not running:
            raise ValueError(f"these jobs wait for jobs that are not there: {[job.name for job in waiting]}")
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            job = running.pop(future)
            seconds = future.result()
            finished.add(job.name)
            yield job.name, seconds


def _timed(do: Do) -> float:
    began = perf_counter()
    do()
    return perf_counter() - began


def _environment(threads: int) -> dict[str, str]:
    """Its share of the cores, and no bars: torch and transformers read this when a job imports them."""
    count = str(threads)
    return {"OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count, "HF_HUB_DISABLE_PROGRESS_BARS": "1"}


def _begin(parent: int) -> None:
    """In a new process: Ctrl-C only for the process that began it; and it stays, however much it has read.

    loky ends a worker that has grown by 300 MB, which one with a model has after its first job: the next job would wait
    until another process has imported everything and read the models again.
    """
    signal(SIGINT, SIG_IGN)
    process_executor._MAX_MEMORY_LEAK_SIZE = maxsize
    Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """A worker that is busy would outlive a killed parent: loky ends only those that wait for work."""
    while os.getppid() == parent:
        sleep(_LOOK)
    os._exit(1)
