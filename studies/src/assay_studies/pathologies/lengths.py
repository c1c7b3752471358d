"""Figure 3: how long texts are before and after reduction.

The paper shows histograms without numbers, and says that inputs are often reduced to one or two words. Lengths are
those of what is reduced: of a pair the hypothesis or the question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from assay.statistics.arrays import Floats
from assay_studies.claims import Claim, all_of, higher, lower, told
from assay_studies.estimates import difference, estimate, ratio
from assay_studies.findings import Part
from assay_studies.pathologies.material import Reduced, histogram
from assay_studies.tables import Cell, Line, Table

_TITLE = "Figure 3: length before and after reduction"
_EDGES = (1, 2, 3, 4, 5, 6, 8, 11, 16, 21)
_BINS = ("1", "2", "3", "4", "5", "6-7", "8-10", "11-15", "16-20", "21 or more")


def part(listed: Sequence[Reduced]) -> Part:
    """Mean lengths, the share of texts that end as one or two words, and the distribution for each task."""
    tables = [_means(listed), *map(_distribution, listed)]
    return Part("figure_3", _TITLE, tuple(tables), tuple(claim for task in listed for claim in _claims(task)))


def measures(task: Reduced) -> Mapping[str, Floats]:
    """What is measured on each text, by the names of the lines; shares in per cent."""
    return {
        "words before": task.before,
        "words after": task.after,
        "per cent of the texts reduced to one word": 100.0 * (task.after <= 1),
        "per cent of the texts reduced to one or two words": 100.0 * (task.after <= 2),
        "per cent of the texts not reduced at all": 100.0 * (task.after == task.before),
    }


def _means(listed: Sequence[Reduced]) -> Table:
    found = [measures(task) for task in listed]
    lines = [Line(name, tuple(Cell(estimate(of[name])) for of in found)) for name in found[0]]
    left = tuple(Cell(estimate(_left(task), ratio)) for task in listed)
    title = "Length of texts, whole and reduced"
    columns = tuple(task.title for task in listed)
    return Table("figure_3", title, columns, (*lines, Line("per cent of all words left", left)), "", 2)


def _left(task: Reduced) -> Floats:
    return np.stack([100.0 * task.after, task.before], axis=1)


def _distribution(task: Reduced) -> Table:
    ways = {"original": task.before, "reduced": task.after}
    lines = [Line(name, _cells(histogram(values, _EDGES))) for name, values in ways.items()]
    title = f"{task.title}: per cent of the texts that have so many words"
    return Table(f"figure_3_{task.name}", title, _BINS, tuple(lines), "", 1, drawn="bars")


def _cells(columns: Floats) -> tuple[Cell, ...]:
    return tuple(Cell(estimate(column)) for column in columns.T)


def _claims(task: Reduced) -> Iterator[Claim]:
    shorter = difference(task.after, task.before)
    short = estimate(np.where(task.after <= 2, 0.5, -0.5))
    yield Claim(
        f'{task.title}: more than half of the texts are reduced to one or two words (Figure 3: "often")',
        all_of([lower(shorter), higher(short)]),
        told({"share of the texts less one half": short, "words after - before": shorter}),
    )
