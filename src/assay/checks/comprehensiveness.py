"""Comprehensiveness: what the prediction loses with the most important words.

    mean over q in {1, 5, 10, 20, 50 %} of  p(c | x) - p(c | x without the first q of its words)

DeYoung et al. (2020), ERASER, section 4, arXiv:1911.03429. Higher is better. A share of the words is rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.erasers import Delete, Eraser, shares
from assay.questions.predict import Predict
from assay.registry.cards import check


@check(
    title="Comprehensiveness",
    better="higher",
    paper="arXiv:1911.03429",
    needs=(Predict,),
    sensitive_to="near-certain predictions, which cannot move; the eraser",
)
@dataclass(frozen=True, kw_only=True)
class Comprehensiveness:
    """The probability that goes with the best words."""

    shares: tuple[float, ...] = (0.01, 0.05, 0.1, 0.2, 0.5)
    eraser: Eraser = Delete()

    def examine(self, e: TokenScores) -> Conversation[float]:
        without = yield from self.eraser.erase(e.text, ~shares(e.ranking, self.shares))
        chances = (yield Predict(e.text, without)).probabilities[:, e.target]
        return float((chances[0] - chances[1:]).mean())
