"""What is explained: one text and a number about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.questions.answers import Predictions, Scalar
from assay.questions.base import Aim
from assay.statistics.arrays import Floats
from assay.text.splitting import Unit
from assay.text.text import Text


@dataclass(frozen=True)
class Case:
    """One text and the number that is explained about it: a label's log-odds, probability or logit, or a contrast."""

    text: Text
    target: int
    scalar: Scalar = "log_odds"
    against: int | None = None
    seed: int = 0

    def by(self, unit: Unit) -> Case:
        """The same, of the text by whole phrases or sentences."""
        return self if unit == "words" else replace(self, text=self.text.by(unit))

    @property
    def aim(self) -> Aim:
        return Aim(self.target, self.scalar, self.against)

    def value(self, answers: Predictions) -> Floats:
        """The explained number in each answer."""
        return answers.value(*self.aim)

    def generator(self) -> np.random.Generator:
        """Randomness of this text alone, from the run's seed and the text."""
        return np.random.default_rng([self.seed, self.text.seed])
