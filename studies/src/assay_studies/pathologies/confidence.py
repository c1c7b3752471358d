"""Figure 4: how sure the model is of its prediction, before and after reduction.

The paper shows densities without numbers, and says that confidence falls slightly (SQuAD, SNLI) or even rises (VQA).
Here "slightly" is by less than 0.1 on average. A span reader's confidence is that of the whole span; the paper shows
its start and end apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.statistics.arrays import Floats
from assay_studies.claims import Claim, told
from assay_studies.estimates import Estimate, difference, estimate
from assay_studies.findings import Part
from assay_studies.pathologies.material import Reduced, histogram
from assay_studies.tables import Cell, Line, Table

_TITLE = "Figure 4: confidence before and after reduction"
_EDGES = tuple(i / 10 for i in range(10))
_BINS = tuple(f"{edge:.1f}-{edge + 0.1:.1f}" for edge in _EDGES)
_SLIGHT = 0.1


def part(listed: Sequence[Reduced]) -> Part:
    """Mean confidence and its change, and the distribution for each task."""
    lines = (
        Line("confidence on whole texts", tuple(Cell(estimate(task.confident)) for task in listed)),
        Line("confidence on reduced texts", tuple(Cell(estimate(task.still_confident)) for task in listed)),
        Line("change", tuple(Cell(change(task)) for task in listed)),
        Line("per cent of the texts with a rise", tuple(Cell(estimate(_rises(task))) for task in listed)),
    )
    title = "Probability of the predicted label"
    means = Table("figure_4", title, tuple(task.title for task in listed), lines, "", 3)
    return Part("figure_4", _TITLE, (means, *map(_distribution, listed)), tuple(map(_claim, listed)))


def change(task: Reduced) -> Estimate | None:
    """Confidence on the reduced text less that on the whole text."""
    return difference(task.still_confident, task.confident)


def _rises(task: Reduced) -> Floats:
    return np.asarray(100.0 * (task.still_confident > task.confident))


def _distribution(task: Reduced) -> Table:
    ways = {"original": task.confident, "reduced": task.still_confident}
    lines = [_line(name, histogram(values, _EDGES)) for name, values in ways.items()]
    title = f"{task.title}: per cent of the texts with so much confidence"
    return Table(f"figure_4_{task.name}", title, _BINS, tuple(lines), "", 1, drawn="bars")


def _line(name: str, columns: Floats) -> Line:
    return Line(name, tuple(Cell(estimate(column)) for column in columns.T))


def _claim(task: Reduced) -> Claim:
    gap = change(task)
    return Claim(
        f"{task.title}: confidence on reduced texts is lower by less than {_SLIGHT:g}, or higher (Figure 4)",
        _slight(gap),
        told({"reduced - original": gap}),
    )


def _slight(gap: Estimate | None) -> bool | None:
    """Surely no large fall, surely one, or open."""
    if gap is None or gap.few:
        return None
    return True if gap.low > -_SLIGHT else False if gap.high < -_SLIGHT else None
