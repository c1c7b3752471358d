"""Insertion: how fast the probability rises when the words are put back, most important first.

    area under p(c | only the first k words), k = 0 ... 20 % of the words, with the horizontal axis scaled to 0 ... 1

Petsiuk, Das and Saenko (2018), RISE, arXiv:1806.07421. Higher is better. With variant="released" the number of words
and the area are those that the released code of Pham et al. (2022) has for deletion, see `assay.statistics.curves`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.erasers import Delete, Eraser, cumulative
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.statistics.arrays import Floats
from assay.statistics.curves import Variant, area, how_many


@check(
    title="Insertion",
    better="higher",
    paper="arXiv:1806.07421",
    needs=(Predict,),
    sensitive_to="texts of very few words; the eraser",
)
@dataclass(frozen=True, kw_only=True)
class Insertion:
    """The area under the probability as the best words come."""

    share: float = 0.2
    eraser: Eraser = Delete()
    variant: Variant = "paper"

    def examine(self, e: TokenScores) -> Conversation[float]:
        return area((yield from self.curve(e)), self.variant)

    def curve(self, e: TokenScores) -> Conversation[Floats]:
        """The probability after 0, 1, 2, ... words."""
        masks = cumulative(e.ranking, how_many(len(e.text), self.share, self.variant))
        only = yield from self.eraser.erase(e.text, ~masks)
        return np.asarray((yield Predict(only)).probabilities[:, e.target])
