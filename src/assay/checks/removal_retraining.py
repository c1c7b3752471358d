"""Removal and retraining: how far the prediction falls when the texts that pushed toward it most are not trained on.

    f(x) - f_without_top(x),   the top being the share of the training texts with the highest scores

f is the explained number of a model that the recipe trains, as the mean over seeds. Han, Wallace and Tsvetkov (2020),
section 4, arXiv:2005.06676, who remove 10 %. `bottom` among the facts is the same for the lowest scores: it should be
negative. Every explanation, every random one too, is `seeds` times two models more: choose --draws accordingly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from assay.checks.trained_without import explained_number, require_positive, training_sample, without
from assay.errors import BadInput
from assay.explanations.examples import Examples
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.text.sample import Sample
from assay.training.recipes import Recipe


@check(
    title="Removal and retraining",
    better="higher",
    paper="arXiv:2005.06676",
    needs=(Predict,),
    reads=Examples,
    sensitive_to="texts that say the same as the removed ones; noise between seeds; a recipe that is not the model's",
)
@dataclass(frozen=True, kw_only=True)
class RemovalRetraining:
    """The fall of the prediction; `recipe` is how the model was trained."""

    recipe: str | Recipe = "bag"
    share: float = 0.1
    seeds: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        require_positive(seeds=self.seeds)
        if not 0 < self.share < 0.5:
            raise BadInput(f"share lies between 0 and 0.5, not {self.share:g}.")

    def examine(self, e: Examples) -> Conversation[Measured]:
        sample = training_sample(e)
        count = max(1, round(self.share * len(e.scores)))
        whole = yield from self._mean(e, sample, ())
        top = yield from self._mean(e, sample, e.ranking[:count].tolist())
        bottom = yield from self._mean(e, sample, e.ranking[-count:].tolist())
        return Measured(whole - top, {"bottom": whole - bottom, "removed": float(count)})

    def _mean(self, e: Examples, sample: Sample, gone: Iterable[int]) -> Conversation[float]:
        """Over models without these rows."""
        left, values = without(sample, gone), []
        for seed in range(self.seed, self.seed + self.seeds):
            values.append((yield from explained_number(e, self.recipe, left, seed)))
        return float(np.mean(values))
