"""Adversarial attention: how different the attention can be while the answer stays the same.

    epsilon-max JSD = max over adversaries a' of  JSD(a', a)   with  TVD( y(x, a'), y(x, a) ) <= epsilon

Jain and Wallace (2019), Algorithm 3, arXiv:1902.10186: k attentions per text are moved away from the map, and from each
other, by Adam on the relaxed objective of `Search`. Lower is better: where a very different
attention gives the same answer, the map is not the only explanation of it. The map itself is among the candidates, so
the score is at least 0; it is at most ln 2 = 0.693. Any map can be put to the check: its sizes, divided by their sum,
stand in the place of the attention.

The paper has one tolerance (0.01 for classifiers, 0.05 for question answering). Its code has two, which are the
defaults here: the search is penalised beyond `tolerance`, and what moves the answer by more than `epsilon` is not
reported. The first is on the sum of |p - q| over the labels, twice the TVD. Whether an adversary keeps within epsilon
is decided by what the model says under exactly the weights that are reported, asked once more after the search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.errors import BadInput
from assay.explanations.token_scores import TokenScores
from assay.questions.answers import Adversaries, changes
from assay.questions.base import Conversation
from assay.questions.interventions import Adversary, InterveneAttention, Search, Where
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.statistics.arrays import Floats
from assay.statistics.divergence import distribution, jsd
from assay.text.text import Text

_ONE_WORD = "one word: only one attention is possible, so the text scores 0"


@dataclass(frozen=True)
class Attacked:
    """The map and k adversaries [1 + k, words], how far each is from the map, and how far it moves the answer."""

    weights: Floats
    apart: Floats
    moved: Floats
    epsilon: float

    @property
    def kept(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which keep the answer; the map itself always does."""
        return self.moved <= self.epsilon

    @property
    def best(self) -> int:
        """The furthest of those that keep the answer, the earliest among equals; 0 is the map itself."""
        return int(np.argmax(np.where(self.kept, self.apart, -1.0)))


@check(
    title="Adversarial attention",
    better="lower",
    paper="arXiv:1902.10186",
    needs=(InterveneAttention, Adversary),
    sensitive_to="how long the search goes on; how peaked the map is, for it is easier to get far away from a peak; "
    "long texts, where many words can do what one does",
)
@dataclass(frozen=True, kw_only=True)
class AdversarialAttention:
    """How far from the map an attention is found that gives the same answer."""

    epsilon: float = 0.05
    k: int = 5
    steps: int = 500
    tolerance: float = 0.01
    penalty: float = 500.0
    rate: float = 0.01
    spread: float = 3.0
    layer: int = -1
    head: int | None = None

    def __post_init__(self) -> None:
        if self.k < 1 or self.steps < 1:
            raise BadInput("adversarial_attention needs k >= 1 and steps >= 1.")
        if not 0 <= self.epsilon <= 1 or not 0 <= self.tolerance <= 2:
            raise BadInput("adversarial_attention needs an epsilon from 0 to 1 and a tolerance from 0 to 2.")
        if not (self.penalty >= 0 and self.rate > 0 and self.spread >= 0):
            raise BadInput("adversarial_attention needs penalty and spread of 0 or more, and a rate above 0.")

    def examine(self, e: TokenScores) -> Conversation[Measured]:
        own = distribution(e.scores)
        attacked = yield from self.attack(e.text, own, e.case.generator())
        facts = {"within": float(attacked.kept[1:].mean()), "moved": float(attacked.moved[attacked.best])}
        facts |= {"max_weight": float(own.max())}
        return Measured(float(attacked.apart[attacked.best]), facts, (_ONE_WORD,) if len(own) == 1 else ())

    def attack(self, text: Text, own: Floats, rng: np.random.Generator) -> Conversation[Attacked]:
        if len(own) == 1:
            return Attacked(np.ones((1 + self.k, 1)), np.zeros(1 + self.k), np.zeros(1 + self.k), self.epsilon)
        where, seed = Where(self.layer, self.head), int(rng.integers(2**31))
        found: Adversaries = yield Adversary(text, self._search, weights=own, where=where, seed=seed)
        weights = distribution(found.weights)
        answers = yield InterveneAttention(text, weights, where)
        moved = changes(answers, answers[:1])
        moved[0] = 0.0
        return Attacked(weights, jsd(weights, weights[:1]), moved, self.epsilon)

    @property
    def _search(self) -> Search:
        return Search(self.k, self.steps, self.rate, self.tolerance, self.penalty, self.spread)
