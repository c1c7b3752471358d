"""The study as work that several processes share: reductions, what is trained, then the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from assay_studies.pathologies.sizes import Sizes
from assay_studies.pathologies.tasks import Task
from assay_studies.request import Request
from assay_studies.study import Run, run_of
from assay_studies.workers import Job

_STUDY = "pathologies"
_REDUCED = ("reduced",)
_TRAINED = {"transfer": (*_REDUCED, "second model"), "table_2": ("mended",)}  # the other parts wait for _REDUCED
_ALONE = ("checkpoints",)  # it makes what it needs


def jobs(run: Run[Task, Sizes]) -> list[Job]:
    return list(_jobs(run))


def part_waits(part: str, job: str) -> bool:
    """Parts wait for the reductions, or for what is mended, and one for what is trained."""
    if part in _ALONE:
        return False
    return job.startswith(_TRAINED.get(part, _REDUCED))


def _jobs(run: Run[Task, Sizes]) -> Iterator[Job]:
    """The reader of SQuAD takes longest, so it begins first."""
    for task in sorted(run.tasks, key=lambda task: task.name != "squad"):
        if task.name != "scenes":
            yield _job(run, f"second model, {task.title}", _second, task.name)
        for floor in _floors(task):
            yield _job(run, f"mended {task.title}, floor {floor}", _mend, task.name, floor)
        yield _job(run, f"reduced {task.title}", _reduce, task.name)


def _floors(task: Task) -> tuple[int, ...]:
    """Of how many per cent reduced texts must keep, for each mending."""
    if not task.mendable:
        return ()
    return (0,) if task.mends_spans or not task.sizes.mend_floor else (0, task.sizes.mend_floor)


def _job(run: Run[Task, Sizes], name: str, do: Callable[..., object], *details: Any) -> Job:
    return Job(name, partial(_here, run.request.silent, do, *details))


def _here(request: Request, do: Callable[..., object], *details: Any) -> None:
    """In another process."""
    do(run_of(_STUDY, request), *details)


def _task(run: Run[Task, Sizes], name: str) -> Task:
    return next(task for task in run.tasks if task.name == name)


def _reduce(run: Run[Task, Sizes], name: str) -> None:
    _ = _task(run, name).reduced


def _second(run: Run[Task, Sizes], name: str) -> None:
    _ = _task(run, name).second


def _mend(run: Run[Task, Sizes], name: str, floor: int) -> None:
    _task(run, name).mended(floor)
