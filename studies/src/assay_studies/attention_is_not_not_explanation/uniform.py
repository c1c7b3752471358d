"""Table 2: is attention needed? F1 of the BiLSTM with learned and with uniform attention."""

from __future__ import annotations

from collections.abc import Iterator

from assay_studies.attention_is_not_not_explanation.intervals import interval
from assay_studies.attention_is_not_not_explanation.tasks import PAPER, Task
from assay_studies.claims import Claim, Evidence, below, claim, higher
from assay_studies.specification import PartSpec, Subject, TableSpec, on_each
from assay_studies.tables import Cell

_LEARNED, _UNIFORM, _DIFFERENCE = "learned attention", "uniform attention", "difference"
_SMALL = 0.03
_NEEDED = ("imdb",)  # the paper keeps it as a useful test case; of the other three it says "little to no improvement"


def _measure(task: Task) -> Subject:
    found, n = task.uniform, len(task.split.test)
    paper = [PAPER.find("table_2", task.name, column) for column in (_LEARNED, _UNIFORM)]
    published = f"{paper[0].value - paper[1].value:.3f}" if paper[0] and paper[1] else ""
    measures = {
        _LEARNED: interval(found.base.f1, n),
        _UNIFORM: interval(found.uniform.f1, n),
        _DIFFERENCE: Cell(interval(found.difference, n), published),
    }
    verdicts = {v.check: v for v in found.verdicts()}
    return Subject(
        task.name, task.title, measures, facts={"task": task, "gain": measures[_DIFFERENCE]}, verdicts=verdicts
    )


def _claims(subject: Subject) -> Iterator[Claim]:
    task: Task = subject.facts["task"]
    gain: Cell = subject.facts["gain"]
    needed = subject.name in _NEEDED
    words = "learned attention does better than uniform attention" if needed else f"it adds less than {_SMALL} F1"
    yield claim(
        f"{subject.title}: {words}",
        Evidence(
            "learned less uniform",
            gain.ours,
            higher if needed else below(_SMALL),
            gain.published,
            over=f"texts and {task.sizes.uniform_seeds} seeds",
            aside=task.afterwards,
        ),
        key="uniform",
        about=subject.title,
    )


PART = PartSpec(
    name="table_2",
    title="Is attention needed?",
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="table_2",
            title="Table 2: F1 with learned and with uniform attention",
            columns=(_LEARNED, _UNIFORM, _DIFFERENCE),
            layout="rows",
            better="higher",
        )
    ],
    claims=[_claims],
    published=PAPER,
)
