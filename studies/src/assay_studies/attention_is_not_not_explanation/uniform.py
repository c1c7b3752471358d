"""Table 2: is attention needed? F1 of the BiLSTM with learned and with uniform attention."""

from __future__ import annotations

from collections.abc import Sequence

from assay_studies.attention_is_not_not_explanation.cells import cell
from assay_studies.attention_is_not_not_explanation.published import TABLE_2
from assay_studies.attention_is_not_not_explanation.tasks import Task
from assay_studies.claims import Claim
from assay_studies.findings import Part
from assay_studies.tables import Line, Table

_SMALL = 0.03


def part(listed: Sequence[Task]) -> Part:
    lines = []
    for task in listed:
        paper, n = TABLE_2.get(task.dataset), len(task.split.test)
        base, flat = task.uniform.base.f1, task.uniform.uniform.f1
        cells = (
            cell(base, n, paper.reproduced if paper else None),
            cell(flat, n, paper.uniform if paper else None),
            cell(task.uniform.difference, n, paper.reproduced - paper.uniform if paper else None),
        )
        lines.append(Line(task.title, cells))
    columns = ("learned attention", "uniform attention", "difference")
    table = Table("table_2", "Table 2: F1 with learned and with uniform attention", columns, tuple(lines), "higher")
    return Part("table_2", "Is attention needed?", (table,), tuple(map(_claim, listed)))


def _claim(task: Task) -> Claim:
    gain = task.uniform.difference
    near = True if gain.high < _SMALL else False if gain.low > _SMALL else abs(gain.value) <= _SMALL or None
    return Claim(
        f"{task.title}: uniform attention is within {_SMALL} F1 of the learned one", near, gain.shown(sign="+")
    )
