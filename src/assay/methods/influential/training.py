"""A training set as the methods of this row need it: the gradients to take of it, and the explanation of a text by it.

One sign for all of them: positive means that the training text pushed toward the explained label.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.explanations.case import Case
from assay.explanations.examples import Examples, at_both_ends
from assay.explanations.sample_explanation import SampleId
from assay.questions.answers import Predictions
from assay.questions.base import Aim, Conversation
from assay.questions.parameters import (
    DRAWS,
    DrawnTokenLoss,
    Loss,
    ParameterGradient,
    Target,
    TrainingRows,
)
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats, Ints
from assay.text.example import Example, text_of
from assay.text.text import Text


class Training(ABC):
    """The rows of a training set, and the gradients to take."""

    rows: tuple[Example, ...]
    known: SampleId
    losses: TrainingRows
    warnings: tuple[str, ...]
    beside: int = 0  # numbers that stand after each gradient of `gradients`

    def __len__(self) -> int:
        return len(self.rows)

    @property
    @abstractmethod
    def curved(self) -> list[Target]:
        """The targets whose gradients make the Gauss-Newton matrix, see `curvature_factor`."""

    @abstractmethod
    def curvature_factor(self, found: Floats) -> tuple[Floats, Floats]:
        """Of the `gradients` of `curved`: those of the rows' own losses [n, p], and F; F'F is the Gauss-Newton matrix.

        It is the one of the mean loss.
        """

    @property
    @abstractmethod
    def features(self) -> list[Target]:
        """What TRAK takes the gradients of."""

    @abstractmethod
    def pushes(self, found: Floats) -> Floats:
        """What a step on each row adds to its feature, of what stands after the gradients of features."""

    def gradients(
        self, targets: Sequence[Target], layers: str, project: int | None, seed: int = 0
    ) -> ParameterGradient:
        return ParameterGradient(targets, layers=layers, project=project, seed=seed, chances=self.beside > 0)

    def explain(
        self,
        case: Case,
        scores: Floats,
        kept: int,
        parts: Mapping[int, Floats] | None = None,
        **facts: Any,
    ) -> Examples:
        """The explanation of a case by the scores of all rows, and by those of the words of some."""
        shown = at_both_ends(scores, self.rows, kept, parts)
        return Examples(case, scores, shown, self.known, facts=facts, warnings=self.warnings)


@dataclass(frozen=True, eq=False)
class LabelledTraining(Training):
    """With labels as numbers, and how many labels there are."""

    rows: tuple[Example, ...]
    known: SampleId
    labels: Ints
    label_count: int
    losses: TrainingRows
    warnings: tuple[str, ...] = ()

    @property
    def beside(self) -> int:  # type: ignore[override]
        return self.label_count

    @property
    def two_labels(self) -> bool:
        return self.label_count == 2

    def every_label(self) -> list[Target]:
        """The loss of every label for every row: row by row, label by label."""
        count = range(self.label_count)
        return [Target(target.strings, Loss(label)) for target in self.losses.targets for label in count]

    def said(self) -> Conversation[Predictions]:
        """What the asked model says of each row."""
        answers: Predictions = yield Predict(*(Text.of(text_of(target.strings)) for target in self.losses.targets))
        return answers

    def own(self, chances: Floats) -> Floats:
        """The probability of each row's own label."""
        return np.asarray(chances[np.arange(len(self)), self.labels])

    @property
    def features(self) -> list[Target]:
        """The log-odds of each row's own label."""
        pairs = zip(self.losses.targets, self.labels.tolist(), strict=True)
        return [Target(target.strings, Aim(label)) for target, label in pairs]

    def pushes(self, found: Floats) -> Floats:
        return np.asarray(1 - self.own(found))

    @property
    def curved(self) -> list[Target]:
        return self.features if self.two_labels else self.every_label()

    def curvature_factor(self, found: Floats) -> tuple[Floats, Floats]:
        """The matrix is the mean of outer products of the gradients of the losses of all labels.

        Each has the probability that the model gives it; of two labels it is p (1 - p) times that of the log-odds,
        which is half the work.
        """
        n, count = len(self), self.label_count
        gradients, chances = found[:, :-count], found[:, -count:]
        if self.two_labels:
            factor = gradients * np.sqrt(chances.prod(axis=1) / n)[:, None]
            return -(1 - self.own(chances))[:, None] * gradients, factor
        each = chances[np.arange(n * count), np.tile(np.arange(count), n)]
        return np.asarray(gradients[np.arange(n) * count + self.labels]), gradients * np.sqrt(each / n)[:, None]


@dataclass(frozen=True, eq=False)
class TokenTraining(Training):
    """Texts that a language model learned to go on with: of each, the loss of its tokens."""

    rows: tuple[Example, ...]
    known: SampleId
    losses: TrainingRows
    mean: bool = True
    warnings: tuple[str, ...] = ()

    @property
    def features(self) -> list[Target]:
        """The losses: there is no label whose log-odds could be taken."""
        return list(self.losses.targets)

    def pushes(self, found: Floats) -> Floats:
        return -np.ones(len(self))

    @property
    def curved(self) -> list[Target]:
        """The losses, then those of tokens that the model draws, several times: all tokens would be too many."""
        strings = [target.strings for target in self.losses.targets]
        return [
            *self.losses.targets,
            *(Target(one, DrawnTokenLoss(self.mean, i)) for i in range(DRAWS) for one in strings),
        ]

    def curvature_factor(self, found: Floats) -> tuple[Floats, Floats]:
        n = len(self)
        return found[:n], found[n:] / np.sqrt(n * DRAWS)
