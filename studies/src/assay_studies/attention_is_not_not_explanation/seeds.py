"""Figure 3: how far attention moves between models that differ in their seed only, by the base's largest weight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.statistics.intervals import estimate, mean_over_seeds
from assay_studies.attention_is_not_not_explanation.cells import cell
from assay_studies.attention_is_not_not_explanation.tasks import Task
from assay_studies.claims import Claim
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

_PEAKS = ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.01))


def part(listed: Sequence[Task]) -> Part:
    return Part(
        "figure_3",
        "How much does attention change by chance?",
        (_figure(listed), _apart(listed)),
        tuple(claim for task in listed for claim in _claims(task)),
        ("JSD to the base model, of each text the median over the other seeds; at most 0.69.",),
    )


def _figure(listed: Sequence[Task]) -> Table:
    columns = tuple(f"{low:g} to {min(high, 1.0):g}" for low, high in _PEAKS)
    lines = []
    for task in listed:
        found = task.seeds
        for i, label in enumerate(found.labels):
            mine = [(found.highest >= low) & (found.highest < high) & (found.predicted == i) for low, high in _PEAKS]
            lines.append(Line(f"{task.title}, {label}", tuple(Cell(estimate(found.median[own])) for own in mine)))
    return Table("figure_3", "Figure 3: JSD between seeds, by the largest weight of the base", columns, tuple(lines))


def _apart(listed: Sequence[Task]) -> Table:
    lines = []
    for task in listed:
        n, found = len(task.split.test), task.seeds
        flat = task.uniform
        cells = (
            cell(found.mean_jsd, n),
            cell(found.mean_tvd, n),
            cell(mean_over_seeds(flat.jsd), n),
            cell(mean_over_seeds(flat.tvd), n),
            Cell(estimate(np.array(found.scores.f1_by_seed))),
        )
        lines.append(Line(task.title, cells))
    columns = ("JSD of seeds", "TVD of seeds", "JSD of uniform", "TVD of uniform", "F1 over seeds")
    return Table("seeds", "Seeds and uniform attention, against the base", columns, tuple(lines))


def _claims(task: Task) -> Sequence[Claim]:
    gap = task.seeds.mean_jsd.value - float(task.uniform.jsd.mean())
    told = f"JSD {task.seeds.mean_jsd.shown()} between seeds, {mean_over_seeds(task.uniform.jsd).shown()} to uniform"
    return [Claim(f"{task.title}: seeds move attention less than making it uniform does", gap < 0, told)]
