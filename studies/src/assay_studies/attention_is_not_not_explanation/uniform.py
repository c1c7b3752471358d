"""Table 2: is attention needed? F1 of the BiLSTM with learned and with uniform attention."""

from __future__ import annotations

from collections.abc import Iterator

from assay.statistics.intervals import Estimate
from assay_studies.attention_is_not_not_explanation.intervals import interval
from assay_studies.attention_is_not_not_explanation.tasks import PAPER, Task
from assay_studies.claims import Claim
from assay_studies.specification import PartSpec, Subject, TableSpec, on_each
from assay_studies.tables import Cell

_LEARNED, _UNIFORM, _DIFFERENCE = "learned attention", "uniform attention", "difference"
_SMALL = 0.03


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
    return Subject(task.name, task.title, measures, facts={"gain": found.difference}, verdicts=verdicts)


def _claims(subject: Subject) -> Iterator[Claim]:
    gain: Estimate = subject.facts["gain"]
    near = True if gain.high < _SMALL else False if gain.low > _SMALL else abs(gain.value) <= _SMALL or None
    text = f"{subject.title}: uniform attention is within {_SMALL} F1 of the learned one"
    yield Claim(text, near, gain.shown(sign="+"))


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
