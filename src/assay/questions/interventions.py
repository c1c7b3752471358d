"""Questions about other attention than the model's own: what would the model say, and how far can attention be moved?

    answers = yield InterveneAttention(text, weights)    -> Predictions under other attention weights, one row for each
    found = yield Adversary(text, search)                -> Adversaries: attention far from the model's own, same answer

Weights are one number for each explained word; they are checked here, so that a model need not do it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assay.errors import BadInput
from assay.questions.answers import Predictions
from assay.questions.base import OneRow, Question, Speaker
from assay.statistics.arrays import Floats
from assay.text.text import Text


class Where(NamedTuple):
    """Which attention of a model is meant: a layer and a head of it, None for all heads."""

    layer: int = -1
    head: int | None = None


_LAST = Where()


class InterveneAttentionRow(NamedTuple):
    """A text and attention weights for its words, as the bytes of float64 [attentions, words]."""

    text: Text
    weights: bytes
    where: Where

    @property
    def table(self) -> Floats:
        return np.frombuffer(self.weights).reshape(-1, len(self.text))


def _attention(text: Text, weights: Floats) -> Floats:
    """Weights as they can be put into a model [attentions, words]."""
    table = np.ascontiguousarray(np.atleast_2d(weights), dtype=np.float64)
    if table.shape[1] != len(text):
        raise BadInput(f"{len(text)} words need {len(text)} attention weights, not {table.shape[1]}.")
    if not (table >= 0).all() or np.isinf(table).any():
        raise BadInput("attention weights are finite numbers that are not below zero.")
    return table


class InterveneAttention(Question):
    """The outputs when other weights stand in the place of the attention with which the answer is read.

    `weights` [attentions, words] are what the words get among themselves: what the attention gives to pieces of no
    explained word stays with these. All else that the model computes stays as it is up to there.
    """

    remembered = False
    weight = 16

    def __init__(self, text: Text, weights: Floats, where: Where = _LAST) -> None:
        self.text, self.where = text, where
        self.weights = _attention(text, weights)

    def rows(self, model: Speaker) -> Sequence[InterveneAttentionRow]:
        return [InterveneAttentionRow(self.text, self.weights.tobytes(), self.where)]

    def assemble(self, values: Sequence[Floats], model: Speaker) -> Predictions:
        return Predictions(values[0], model.multi_label, model.one_logit)


class Search(NamedTuple):
    """How attention is sought that is far from a given one and gives the same answer (Jain and Wallace, Algorithm 3).

        minimise  sum_k -JSD(a_k, a) + penalty max(0, |y_k - y|_1 - tolerance)  -  mean over pairs JSD(a_k, a_l)

    by Adam on the logarithms of k attentions, which start as noise of `spread` around uniform weights.
    """

    k: int = 5
    steps: int = 500
    rate: float = 0.01
    tolerance: float = 0.01
    penalty: float = 500.0
    spread: float = 3.0


class AdversaryRow(NamedTuple):
    """A text, the attention to get away from (bytes of float64 [words]; empty for the model's own), and how."""

    text: Text
    weights: bytes
    search: Search
    where: Where
    seed: int

    @property
    def table(self) -> Floats:
        return np.frombuffer(self.weights).reshape(-1, len(self.text))


class Adversary(OneRow):
    """Attention that is as far as possible from the given one (or the model's own) while the answer stays."""

    remembered = False
    weight = 64
    backward = True

    def __init__(
        self, text: Text, search: Search, *, weights: Floats | None = None, where: Where = _LAST, seed: int = 0
    ) -> None:
        given = b"" if weights is None else _attention(text, weights).tobytes()
        self.row = AdversaryRow(text, given, search, where, seed)
