"""Table A4: ten candidates do for IM what all of likelihood 1e-5 or more do (at most 500 of them here).

On the first texts of SST-2 only: all candidates are hundreds of rows for each word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from assay_studies.claims import Claim, all_of, told
from assay_studies.double_trouble.deletion_bias import METRICS, areas
from assay_studies.double_trouble.published import TABLE_A4
from assay_studies.double_trouble.tasks import Task, spread
from assay_studies.estimates import Estimate, difference, estimate
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

_TITLE = "Table A4: IM with ten candidates and with all that are likely"
_METHODS = ("IM", "IM_all")
_ALIKE = 0.05  # of the area; the paper's two differ by 0.005 and 0.010


def part(tasks: Iterable[Task]) -> Part:
    """Both areas of both versions, on a part of SST-2."""
    task = next(task for task in tasks if task.name == "sst2")
    if not task.sizes.threshold_texts:
        return Part("table_a4", _TITLE, notes=("Table A4 was left out: the quick study does not ask all candidates.",))
    few = _few(task)
    found = {metric: areas(few, _METHODS, metric) for metric in METRICS}
    lines = []
    for metric, of in found.items():
        lines.append(Line(metric, tuple(Cell(estimate(of[m]), TABLE_A4[metric][m]) for m in _METHODS)))
    table = Table("table_a4", _TITLE, _METHODS, tuple(lines), "lower", 4, (f"On {len(few.examples)} sentences.",))
    gaps = {metric: difference(of["IM"], of["IM_all"]) for metric, of in found.items()}
    alike = all_of(_alike(gap) for gap in gaps.values())
    claim = Claim(
        f"SST-2: ten candidates do as well as all likely ones, areas within {_ALIKE:g} (section D)",
        alike,
        told(gaps, 4) + f"; mean Pearson correlation of the maps {_pearson(few):.3f} (published 0.722)",
    )
    return Part("table_a4", _TITLE, (table,), (claim,))


def _alike(gap: Estimate | None) -> bool | None:
    """Surely within the tolerance, surely outside of it, or open."""
    if gap is None:
        return None
    if max(-gap.low, gap.high) < _ALIKE:
        return True
    return False if max(gap.low, -gap.high) > _ALIKE else None


def _few(task: Task) -> Task:
    """The same task on some of its texts; its explanations are kept under a name of their own."""
    return replace(task, examples=spread(task.examples, task.sizes.threshold_texts), part="-part")


def _pearson(task: Task) -> float:
    pairs = zip(task.maps("IM"), task.maps("IM_all"), strict=True)
    told = [np.corrcoef(a.scores, b.scores)[0, 1] for a, b in pairs if np.ptp(a.scores) and np.ptp(b.scores)]
    return float(np.mean(told))
