"""Table A1: scores of IM are smaller than those of LOO_empty.

The scores of a text are divided by the largest absolute one, so that they lie in [-1, 1], and the mean absolute value
is taken over all words; below it the same without the division, in log2-odds, which is the paper's scale of scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log

import numpy as np

from assay.explanations.token_scores import TokenScores
from assay.statistics.arrays import Floats
from assay_studies.claims import Claim, lower, told
from assay_studies.double_trouble.published import TABLE_A1
from assay_studies.double_trouble.tasks import COLUMNS, Task, left_out
from assay_studies.estimates import difference, estimate, ratio
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

_METHODS = ("LOO_empty", "IM")


def part(tasks: Iterable[Task]) -> Part:
    """Both scales, and whether IM is smaller on the paper's."""
    listed = list(tasks)
    scaled = {(t.name, m): sums([normalised(e) for e in t.maps(m)]) for t in listed for m in _METHODS}
    raw = {(t.name, m): sums([e.scores / log(2) for e in t.maps(m)]) for t in listed for m in _METHODS}
    lines = [_line(m, m, scaled, TABLE_A1[m]) for m in _METHODS]
    lines += [_line(f"{m}, log2-odds", m, raw, {}) for m in _METHODS]
    title = "Table A1: mean absolute score of a word"
    table = Table("table_a1", title, tuple(COLUMNS.values()), tuple(lines), "", 3, left_out(listed))
    return Part("table_a1", title, (table,), tuple(_claim(task, scaled, raw) for task in listed))


def normalised(e: TokenScores) -> Floats:
    """Divided by the largest absolute score."""
    top = np.abs(e.scores).max()
    return np.asarray(e.scores / top if top else e.scores)


def sums(maps: Sequence[Floats]) -> Floats:
    """For every text the sum of the absolute scores, and how many there are."""
    return np.array([[np.abs(scores).sum(), len(scores)] for scores in maps])


def _line(label: str, method: str, found: Mapping[tuple[str, str], Floats], paper: Mapping[str, str]) -> Line:
    here = {task: estimate(found[task, method], ratio) for task in COLUMNS if (task, method) in found}
    return Line(label, tuple(Cell(here.get(task), paper.get(task, "")) for task in COLUMNS))


def _claim(task: Task, scaled: dict[tuple[str, str], Floats], raw: dict[tuple[str, str], Floats]) -> Claim:
    gaps = [difference(found[task.name, "IM"], found[task.name, "LOO_empty"], ratio) for found in (scaled, raw)]
    return Claim(
        f"{task.title}: scores of IM are smaller than those of LOO_empty (Table A1)",
        lower(gaps[0]),
        told({"IM - LOO_empty, scaled": gaps[0], "in log2-odds": gaps[1]}),
    )
