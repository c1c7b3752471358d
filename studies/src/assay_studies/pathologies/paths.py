"""The ways of reduction, as Figure 5 shows one: how sure the model is of its answer as the words go.

Every step of every text counts where so many of its words are left; a text counts once in each bin, by the mean over
its steps there. The paper shows single paths, without numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.explanations.edits import Edits
from assay.statistics.arrays import Floats
from assay_studies.pathologies.material import Reduced
from assay_studies.pathologies.tasks import PAPER, Task
from assay_studies.specification import Key, PartSpec, Quantity, Subject, TableSpec, Values, on_each

_BINS = {  # shares of the words, from and to before
    "all words": (1.0, 1.1),
    "three quarters": (0.75, 1.0),
    "half": (0.5, 0.75),
    "a quarter": (0.25, 0.5),
    "fewer": (0.0, 0.25),
}
_LEFT, _SURE = "left", "sure"


def subject(task: Reduced) -> Subject:
    measures: dict[Key, Quantity] = {}
    for name, (low, high) in _BINS.items():
        points = np.array(list(_points(task, low, high)))
        if len(points):
            measures |= {(name, _LEFT): Values(points[:, 0]), (name, _SURE): Values(points[:, 1])}
    return Subject(task.name, task.title, measures)


def _points(task: Reduced, low: float, high: float) -> Iterator[Floats]:
    """Of each text that passes through the bin, its mean place there."""
    for e in task.edits:
        way = _way(e)
        inside = way[(way[:, 0] >= 100 * low) & (way[:, 0] < 100 * high)]
        if len(inside):
            yield inside.mean(axis=0)


def _way(e: Edits) -> Floats:
    """Per cent of the words that are left, and the probability of the answer, step by step."""
    return np.array([(100 * len(edit.kept) / len(e.text), edit.prediction[e.label]) for edit in e.edits])


def _measure(task: Task) -> Subject:
    return subject(task.reduced)


PART = PartSpec(
    name="paths",
    title="Figure 5: on the way of reduction",
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="figure_5_{name}",
            title="{title}: how sure the model is as words go",
            rows=tuple(_BINS),
            columns={_LEFT: "per cent of the words left", _SURE: "probability of its answer"},
            layout="tables",
            digits=2,
            drawn="curves",
        )
    ],
    published=PAPER,
)
