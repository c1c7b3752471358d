"""Insertion: how fast the probability rises when the words are put back, most important first.

    area under p(c | only the first k words), k = 0 ... 20 % of the words, with the horizontal axis scaled to 0 ... 1

Petsiuk, Das and Saenko (2018), RISE, arXiv:1806.07421. Higher is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from assay.ask import Conversation, Predict
from assay.erasers import Delete, Eraser, cumulative
from assay.explanation import TokenScores
from assay.registry import check


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

    def examine(self, e: TokenScores) -> Conversation[float]:
        upto = max(1, ceil(self.share * len(e.text)))
        only = yield from self.eraser.erase(e.text, ~cumulative(e.ranking, upto))
        curve = (yield Predict(only)).probabilities[:, e.target]
        return float(np.trapezoid(curve, dx=1 / upto))
