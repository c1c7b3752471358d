"""Looks inside the model at one text.

maps = yield Attention(text)                         -> AttentionMaps: who looked at whom, piece by piece
states = yield Hidden(text)                          -> HiddenStates: a vector per layer and piece
states = yield Hidden(text, layers=[6], pool="words")   -> an array [layers, words, size]; no more leaves the device
maps = yield ValueZeroing(text)                      -> AttentionMaps: whose value vector turns whose state
told = yield Relevance(text, aim)                    -> Relevances: what each word, and what else, got of a number
layers = yield Depth()                               -> how many layers it has
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from assay.errors import BadInput, UnknownName
from assay.questions.answers import Relevances
from assay.questions.base import Aim, OneRow, Question, Speaker
from assay.statistics.arrays import Floats
from assay.text.text import Text


class _Inside(OneRow):
    """A look inside the model at one text; the answers are large and not remembered."""

    remembered = False
    weight = 256

    def __init__(self, text: Text) -> None:
        self.row = text


class Attention(_Inside):
    """The attention weights of every layer and head."""


Pool: TypeAlias = Literal["pieces", "words", "first", "text", "cls", "answer"]


class HiddenRow(NamedTuple):
    """A text, and what is wanted of its states."""

    text: Text
    layers: tuple[int, ...] | None = None
    pool: Pool = "pieces"
    places: tuple[int, ...] | None = None


class Hidden(_Inside):
    """The hidden states of all layers or of some (0 is the embedding, -1 the last), whole or pooled on the device.

    pieces    a vector for every piece: HiddenStates                  text     the mean over the pieces of all words
    words     for every word the mean over its pieces                 cls      the first piece
    first     for every word its first piece                          answer   the piece that the answer is read from

    Pooled answers are arrays [layers, words or 1, size]. `places` chooses words. A piece that belongs to several words
    counts for each by its share; a word of which the model reads no piece is a vector of zeros.
    """

    def __init__(
        self,
        text: Text,
        *,
        layers: Sequence[int] | None = None,
        pool: Pool = "pieces",
        places: Sequence[int] | None = None,
    ) -> None:
        if pool not in get_args(Pool):
            raise UnknownName.of("way to pool hidden states", pool, get_args(Pool))
        if places is not None and pool not in ("words", "first"):
            raise BadInput(f"places are words, so they go with pool='words' or pool='first', not {pool!r}.")
        wanted = None if layers is None else tuple(layers)
        super().__init__(text)
        self.row = HiddenRow(text, wanted, pool, None if places is None else tuple(places))
        self.weight = {"pieces": 256, "words": 128, "first": 128}.get(pool, 16)


class ValueZeroing(_Inside):
    """How far the output of every layer turns when the value vector of a piece is zero in its attention.

    The answer is AttentionMaps with one head: cosine distances, each row divided by its sum.
    """


class RelevanceRow(NamedTuple):
    """A text and the number whose relevance is wanted."""

    text: Text
    aim: Aim


class Relevance(Question):
    """How much of the explained number comes from each word, propagated layer by layer with the rules of AttnLRP."""

    backward = True
    # Elsewhere: the scale of the number, constants (positions, types), biases, softmaxes, pieces of no explained word.
    takers: ClassVar[tuple[str, ...]] = ("scale", "constants", "biases", "softmax", "other_pieces")

    def __init__(self, text: Text, aim: Aim) -> None:
        self.text, self.aim = text, aim

    def rows(self, model: Speaker) -> Sequence[RelevanceRow]:
        return [RelevanceRow(self.text, self.aim)]

    def assemble(self, values: Sequence[Floats], model: Speaker) -> Relevances:
        """The row is the explained value, then what each taker and each word got."""
        value, taken, scores = np.split(values[0], [1, 1 + len(self.takers)])
        return Relevances(float(value[0]), scores, dict(zip(self.takers, taken.tolist(), strict=True)))


class Depth(Question):
    """How many layers stand between the embeddings and the head of a model.

    A model that knows its layers can also be asked as another one: a question whose `model` is `@SPEC` goes to the
    model that `derived(SPEC)` makes of it.
    """

    def rows(self, model: Speaker) -> Sequence[str]:
        return ["depth"]

    def assemble(self, values: Sequence[Floats], model: Speaker) -> int:
        return int(values[0][0])
