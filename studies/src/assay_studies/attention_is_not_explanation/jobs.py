"""The models of the study as work that several processes share: each is trained, asked and audited by one of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from assay_studies.attention_is_not_explanation.sizes import Sizes
from assay_studies.attention_is_not_explanation.tasks import BASE, LAYOUT, Setting, Task, read_once
from assay_studies.request import Request
from assay_studies.store import Store
from assay_studies.workers import Job


def jobs(listed: Sequence[Task]) -> list[Job]:
    """Dataset by dataset, the least to read first, so that a run that is stopped has finished what it could.

    Of each the paper's main model comes first.
    """
    every = (one for task in listed for one in (task, *task.others))
    ordered = sorted(every, key=lambda task: (_reading(task), task.setting.way != BASE))
    return [Job(t.setting.title, partial(_finish, t.request.silent, t.sizes, t.setting)) for t in ordered]


def _reading(task: Task) -> int:
    """The characters that training reads."""
    return task.how.plan.epochs * sum(len(string) for example in task.split.train for string in example.strings)


def _finish(request: Request, sizes: Sizes, setting: Setting) -> None:
    split = read_once(setting.dataset, request.directory(LAYOUT))
    task = Task(setting, split, request, sizes, Store(request.out, request.device))
    _ = task.answers, task.audit
