"""What the parts of the study read: the texts of a task with their reduced versions, made beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.errors import BadInput
from assay.explanations.edits import Edit, Edits
from assay.statistics.arrays import Floats
from assay.text.text import Text
from assay_studies.specification import Key, Quantity, Values


@dataclass(frozen=True, eq=False)
class Reduced:
    """A task: its short name (that of files), its title, what `input_reduction` found for each text, and gold labels.

    Texts and predictions are those of the explanations: `e.text`, with the reduced words in focus, and `e.prediction`.
    """

    name: str
    title: str
    edits: tuple[Edits, ...]
    gold: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not self.edits:
            raise BadInput(f"{self.title} has no reduced texts.")
        if self.gold is not None and len(self.gold) != len(self.edits):
            raise BadInput(f"{self.title} has {len(self.edits)} texts and {len(self.gold)} gold labels.")

    @property
    def texts(self) -> list[Text]:
        return [e.text for e in self.edits]

    @property
    def labels(self) -> list[str]:
        """What the model says to each text, whole or reduced."""
        return [e.label for e in self.edits]

    @property
    def shortest(self) -> list[Edit]:
        return [e.edits[-1] for e in self.edits]

    @cached_property
    def before(self) -> Floats:
        """The number of words of each text."""
        return np.array([len(e.text) for e in self.edits], dtype=np.float64)

    @cached_property
    def after(self) -> Floats:
        """The number of words of each reduced text."""
        return np.array([len(edit.kept) for edit in self.shortest], dtype=np.float64)

    @cached_property
    def confident(self) -> Floats:
        """The probability of the predicted label for each whole text."""
        return np.array([e.prediction[e.label] for e in self.edits])

    @cached_property
    def still_confident(self) -> Floats:
        """The same for each reduced text."""
        return np.array([edit.prediction[e.label] for e, edit in zip(self.edits, self.shortest, strict=True)])

    @property
    def accuracy(self) -> Floats | None:
        """Whether each prediction is right; that of the reduced text is the same."""
        if self.gold is None:
            return None
        return np.array([float(one == other) for one, other in zip(self.labels, self.gold, strict=True)])


def histogram(values: Floats, edges: Sequence[float]) -> Floats:
    """100 where the value of a text lies in a bin, [texts, bins]: the means of the columns are per cent.

    The bins reach from each edge to before the next; the last has no end.
    """
    found = np.searchsorted(edges, values, side="right") - 1
    if (found < 0).any():
        raise ValueError(f"{values.min()} lies before the first bin, {edges[0]}")
    return 100.0 * np.eye(len(edges))[found]


def distribution(name: str, values: Floats, edges: Sequence[float], bins: Sequence[str]) -> dict[Key, Quantity]:
    """The per cent of the texts in each bin, by its name."""
    columns = histogram(values, edges).T
    return {(name, label): Values(column) for label, column in zip(bins, columns, strict=True)}
