"""Attention permutation: how far the answer moves when the attention falls on other words.

    median over permutations pi of  TVD( y(x, a^pi), y(x, a) )

Jain and Wallace (2019), Algorithm 2, arXiv:1902.10186: the weights are shuffled among the words, all that the model
computed up to the attention stays. Higher is better: weights that can be shuffled freely explain nothing. For the
method `attention` on a model whose attention is its own last word this is the algorithm itself. Here any map can be
put to it: its sizes, divided by their sum, stand in the place of the attention (all alike, where all are zero), so the
check asks whether it would matter that the model looked as the map says. The fact `placed` tells how far that alone
moves the answer; with head=none one map stands in all heads, so it is not zero even for attention itself where there
are several heads. A text of one word scores 0: there is nothing to shuffle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.errors import BadInput
from assay.explanations.token_scores import TokenScores
from assay.questions.answers import changes
from assay.questions.base import Conversation
from assay.questions.interventions import InterveneAttention, Where
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.statistics.arrays import Floats
from assay.statistics.divergence import distribution, entropy
from assay.text.text import Text

_ONE_WORD = "one word: there is nothing to shuffle, so the text scores 0"


@dataclass(frozen=True)
class Shuffled:
    """How far every permutation moves the answer, and how far the map itself does."""

    moved: Floats
    placed: float

    @property
    def median(self) -> float:
        return float(np.median(self.moved))


@check(
    title="Attention permutation",
    better="higher",
    paper="arXiv:1902.10186",
    needs=(Predict, InterveneAttention),
    sensitive_to="how peaked the map is: of two maps on wrong words the more peaked one moves more; short texts; "
    "answers so sure that nothing moves them",
)
@dataclass(frozen=True, kw_only=True)
class AttentionPermutation:
    """How much the answer depends on which words the weights are on."""

    permutations: int = 100
    layer: int = -1
    head: int | None = None

    def __post_init__(self) -> None:
        if self.permutations < 1:
            raise BadInput("attention_permutation needs permutations >= 1.")

    def examine(self, e: TokenScores) -> Conversation[Measured]:
        own = distribution(e.scores)
        shuffled = yield from self.shuffle(e.text, own, e.case.generator())
        facts = {"placed": shuffled.placed, "largest": float(shuffled.moved.max())}
        facts |= {"max_weight": float(own.max()), "entropy": float(entropy(own))}
        return Measured(shuffled.median, facts, (_ONE_WORD,) if len(own) == 1 else ())

    def shuffle(self, text: Text, own: Floats, rng: np.random.Generator) -> Conversation[Shuffled]:
        before = yield Predict(text)
        tried = np.vstack([own, permuted(own, self.permutations, rng)])
        answers = yield InterveneAttention(text, tried, Where(self.layer, self.head))
        placed = float(changes(answers[:1], before)[0])
        # Rounding may differ from row to row of a batch; a single weight stays where it is.
        moved = changes(answers[1:], answers[:1]) if len(own) > 1 else np.zeros(self.permutations)
        return Shuffled(moved, placed)


def permuted(weights: Floats, count: int, rng: np.random.Generator) -> Floats:
    """The weights in `count` random orders [count, words]."""
    return np.asarray(rng.permuted(np.tile(weights, (count, 1)), axis=1))
