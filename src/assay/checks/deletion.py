"""Deletion: how fast the probability falls when the words are taken away, most important first.

    area under p(c | x without the first k words), k = 0 ... 20 % of the words, with the horizontal axis scaled to 0
    ... 1

Petsiuk, Das and Saenko (2018), RISE, arXiv:1806.07421; for text, up to 20 %, Pham et al. (2022), section 3.1,
arXiv:2110.04947. Lower is better. The ranking is that of the whole text and is not made again after a removal. With
variant="released" the area is that of their released code, see `curves.py`; with eraser="resample" the words are
replaced by those a masked language model finds likeliest: their Deletion_BERT. All words that are gone are filled at
once; eraser="resample:one_by_one" fills one after the other, as their released code does.
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
    title="Deletion",
    better="lower",
    paper="arXiv:1806.07421",
    needs=(Predict,),
    sensitive_to="texts that look like nothing the model has seen; the eraser",
)
@dataclass(frozen=True, kw_only=True)
class Deletion:
    """The area under the probability as the best words go."""

    share: float = 0.2
    eraser: Eraser = Delete()
    variant: Variant = "paper"

    def examine(self, e: TokenScores) -> Conversation[float]:
        return area((yield from self.curve(e)), self.variant)

    def curve(self, e: TokenScores) -> Conversation[Floats]:
        """The probability after 0, 1, 2, ... words."""
        masks = cumulative(e.ranking, how_many(len(e.text), self.share, self.variant))
        fewer = yield from self.eraser.erase(e.text, masks)
        return np.asarray((yield Predict(fewer)).probabilities[:, e.target])
