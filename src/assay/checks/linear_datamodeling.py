"""Linear datamodeling score: whether summed scores foretell what models trained on random parts of the set say.

    rank correlation over parts S of  sum of score_i for i in S  and  f_S(x)

f_S is the explained number of a model trained on S, a random half of the training texts. Park et al. (2023), section 4,
arXiv:2303.14186, after Ilyas et al. (2022). The parts are the same for all texts and explanations, so the models are
trained once. With `seeds` above 1, f_S is the mean over models that differ in their seed alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.checks.trained_without import explained_number, generator_for, require_positive, training_sample
from assay.errors import BadInput
from assay.explanations.examples import Examples
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.statistics.arrays import Floats
from assay.statistics.ranks import spearman
from assay.text.text import Masks
from assay.training.recipes import Recipe


@dataclass(frozen=True, eq=False)
class Subsets:
    """Which rows each part holds [parts, rows], and what the model trained on it says."""

    chosen: Masks
    values: Floats


@check(
    title="Linear datamodeling",
    better="higher",
    paper="arXiv:2303.14186",
    needs=(Predict,),
    reads=Examples,
    sensitive_to="the noise between seeds, which no score foretells; a recipe that is not the model's",
)
@dataclass(frozen=True, kw_only=True)
class LinearDatamodeling:
    """Sums of scores beside models of parts; `recipe` is how the model was trained."""

    recipe: str | Recipe = "bag"
    subsets: int = 60
    share: float = 0.5
    seeds: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        require_positive(subsets=self.subsets - 1, seeds=self.seeds)
        if not 0 < self.share < 1:
            raise BadInput(f"share lies between 0 and 1, not {self.share:g}.")

    def against(self, e: Examples) -> Conversation[Subsets]:
        """Trains the models of the parts."""
        sample, rng, size = training_sample(e), generator_for(e, self.seed), len(e.scores)
        chosen = np.zeros((self.subsets, size), dtype=bool)
        values = np.zeros(self.subsets)
        for part, row in enumerate(chosen):
            row[rng.permutation(size)[: max(2, round(self.share * size))]] = True
            for seed in range(self.seed, self.seed + self.seeds):
                values[part] += yield from explained_number(e, self.recipe, sample.pick(np.flatnonzero(row)), seed)
        return Subsets(chosen, values / self.seeds)

    def measure(self, e: Examples, known: Subsets) -> Measured:
        return Measured(spearman(known.chosen @ e.scores, known.values))

    def examine(self, e: Examples) -> Conversation[Measured]:
        return self.measure(e, (yield from self.against(e)))
