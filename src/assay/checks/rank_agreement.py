"""Rank agreement: whether another method puts the words into the same order.

    tau-b(a, b) = (pairs in the same order - pairs in opposite order) / sqrt(untied pairs of a * untied pairs of b)

Kendall's tau-b between methods as in Jain and Wallace (2019), section 4.1, arXiv:1902.10186; with metric="spearman" the
correlation of the ranks, with "top_k" the share of the first k words that both have. Higher means more agreement, which
is no proof: two methods may err together. The facts hold all three numbers and `significant`, the share of texts with
p < .05 under the hypothesis of unrelated orders. Maps without any order: see `assay.statistics.ranks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.errors import BadInput
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.registry.finding import explaining, find_method
from assay.registry.measured import Measured
from assay.registry.reexplain import token_scores
from assay.statistics.arrays import Floats
from assay.statistics.ranks import kendall, overlap, spearman

_LEVEL = 0.05


@check(
    title="Rank agreement",
    better="higher",
    paper="arXiv:1902.10186",
    needs=(Predict,),
    sensitive_to="the other method and its faults; long texts, where the many unimportant words decide",
)
@dataclass(frozen=True, kw_only=True)
class RankAgreement:
    """How far the order of the words is that of another method."""

    other: str = "leave_one_out"
    metric: Literal["kendall", "spearman", "top_k"] = "kendall"
    k: int = 5

    def __post_init__(self) -> None:
        if self.k < 1:
            raise BadInput("rank_agreement needs k >= 1.")
        if not issubclass(find_method(self.other).returns, TokenScores):
            raise BadInput(f"{self.other} gives no scores to words; rank_agreement needs a method that does.")

    def examine(self, e: TokenScores) -> Conversation[Measured]:
        return self.measure(e, (yield from self.against(e)))

    def against(self, e: TokenScores) -> Conversation[TokenScores]:
        """The map of the other method, with its default parameters."""
        card = find_method(self.other)
        return token_scores(explaining(card, card.make()), e.case)

    def measure(self, e: TokenScores, other: TokenScores) -> Measured:
        tau = kendall(e.scores, other.scores)
        facts = {
            "kendall": tau.value,
            "spearman": spearman(e.scores, other.scores),
            "top_k": overlap(e.scores, other.scores, self.k),
            "significant": float(tau.p_value < _LEVEL),
        }
        itself = f"same method: {self.other} is compared with itself, which says nothing; choose another one."
        return Measured(facts[self.metric], facts, (itself,) if e.about.method == self.other else ())


def agreement(maps: Sequence[TokenScores]) -> Floats:
    """Kendall's tau-b between all maps of one text."""
    if len({e.text for e in maps}) > 1:
        raise BadInput("only maps of the same words can be compared; these are of different texts.")
    taus = np.eye(len(maps))
    for i, j in np.argwhere(np.triu(np.ones_like(taus), k=1)):
        taus[i, j] = taus[j, i] = kendall(maps[i].scores, maps[j].scores).value
    return taus
