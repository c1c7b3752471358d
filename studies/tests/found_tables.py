"""The tables of a study that was run, and our numbers in them."""

from __future__ import annotations

from assay_studies import Findings
from assay_studies.tables import Table


def table(findings: Findings, name: str) -> Table:
    return next(t for t in findings.tables if t.name == name)


def ours(findings: Findings, name: str, line: str, column: str) -> float:
    found = table(findings, name)
    told = next(one for one in found.lines if one.label == line).cells[found.columns.index(column)].ours
    assert told is not None
    return told.value


def values(found: Table, label: str) -> list[float | None]:
    """The numbers of a line, None for a cell without one of ours."""
    cells = next(line.cells for line in found.lines if line.label == label)
    return [None if cell.ours is None else cell.ours.value for cell in cells]
