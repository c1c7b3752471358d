"""Exact retraining: whether the scores of training texts agree with what training without each of them really does.

    rank correlation over training texts of  score_i  and  f(x) - f_without_i(x)

f is the explained number of the model that the recipe trains on all texts, f_without_i that of one trained without text
i. Koh and Liang (2017), section 4.1, arXiv:1703.04730. Every text left out is one more model: meant for convex models
and small sets. Of more than `rows` training texts that many are drawn, the same ones for all explanations. Where
training is not convex, a single text changes less than a seed does, and nothing agrees with that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.checks.trained_without import explained_number, generator_for, require_positive, training_sample, without
from assay.explanations.examples import Examples
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.statistics.arrays import Floats, Ints
from assay.statistics.ranks import spearman
from assay.training.recipes import Recipe


@dataclass(frozen=True, eq=False)
class WithoutRows:
    """The rows that were left out one by one, and how far the explained number was higher with each of them."""

    rows: Ints
    changes: Floats


@check(
    title="Exact retraining",
    better="higher",
    paper="arXiv:1703.04730",
    needs=(Predict,),
    reads=Examples,
    sensitive_to="training that is not convex, whose seeds change more than a text; a recipe that is not the model's",
)
@dataclass(frozen=True, kw_only=True)
class ExactRetraining:
    """Scores beside the truth; `recipe` is how the model was trained."""

    recipe: str | Recipe = "bag"
    rows: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        require_positive(rows=self.rows - 1)

    def against(self, e: Examples) -> Conversation[WithoutRows]:
        """Trains a model without each of the rows; all texts share them."""
        sample = training_sample(e)
        size = len(e.scores)
        rows = np.sort(generator_for(e, self.seed).permutation(size)[: self.rows])
        whole = yield from explained_number(e, self.recipe, sample, self.seed)
        changes = []
        for row in rows.tolist():
            changes.append(whole - (yield from explained_number(e, self.recipe, without(sample, [row]), self.seed)))
        return WithoutRows(rows, np.array(changes))

    def measure(self, e: Examples, known: WithoutRows) -> Measured:
        return Measured(spearman(e.scores[known.rows], known.changes), {"rows": float(len(known.rows))})

    def examine(self, e: Examples) -> Conversation[Measured]:
        return self.measure(e, (yield from self.against(e)))
