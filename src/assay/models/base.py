"""What the engine needs of a model: encode rows, answer a batch, collect the answers.

A model's `answers` is a table from a question to the handler that answers it; everything else (order, batching, memory,
caching) is the engine's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from assay.errors import BadText, Unanswerable
from assay.models.turn import Turn
from assay.questions.answers import PieceWords
from assay.questions.base import Question
from assay.statistics.arrays import Floats
from assay.text.text import Text
from assay.text.variants import Symbol

M = TypeVar("M", bound="TextModel")


class Handler(ABC, Generic[M]):
    """Answers one question for a model of a kind. What it needs to know of the model, it is given with every call."""

    even: ClassVar[bool] = False  # whether rows are better off in batches of one length, where the model has them
    mixed: ClassVar[bool] = False  # whether many rows of one length still gain from company of other lengths

    @abstractmethod
    def encode(self, model: M, rows: Sequence[Any]) -> Sequence[Any]:
        """Rows ready for batching; an error in the place of a row is the answer of that row."""

    def lengths(self, model: M, encoded: Sequence[Any]) -> Iterable[int]:
        """How many tokens a sequence of each encoded row has."""
        return map(len, encoded)

    def sequences(self, model: M, encoded: Sequence[Any]) -> Iterable[int] | None:
        """How many sequences each encoded row is; None where it is one each."""
        return None

    def widening(self, model: M) -> int:
        """How many times as large as others its batches are best."""
        return 1

    def vocabulary_places(self, model: M, encoded: Sequence[Any]) -> Iterable[int] | None:
        """At how many places of each encoded row there are logits over a whole vocabulary; None where at none."""
        return None

    @abstractmethod
    def answer(self, model: M, batch: Sequence[Any]) -> Any:
        """The model's answer to a batch of encoded rows; may still lie on a device."""

    def collect(self, model: M, outputs: Sequence[Any]) -> list[Any]:
        """The answers of several batches, row by row: float64 arrays, or objects of assay.questions.answers."""
        return [row for output in outputs for row in output]


class Spelling(dict[Symbol, str]):
    """How a model spells the symbols for an erased word."""

    def __init__(self, model: str, known: Mapping[Symbol, str | None]) -> None:
        super().__init__({symbol: token for symbol, token in known.items() if token})
        self.model = model

    def __missing__(self, symbol: Symbol) -> str:
        have = ", ".join(["delete", *self])
        raise Unanswerable(
            f"the model {self.model} has no {symbol.value} token; "
            f"erase by {have}, or give a token: {symbol.value}:TOKEN."
        )


class TextModel(ABC):
    """A model as the engine sees it."""

    name: str = "model"
    labels: tuple[str, ...] = ()
    fields: tuple[str, ...] = ("text",)
    question: str = ""  # what it is asked about a text, where it is a language model that chooses among labels
    chats: bool = False  # whether it is talked to by a chat template
    optional: int = 0  # how many of the last fields one may leave out
    warnings: tuple[str, ...] = ()  # what a reader of any explanation of this model must know
    nothing: str | None = None  # the token for which a text without words is read, where nothing stands around a text
    multi_label: bool = False
    one_logit: bool = False  # whether its two labels are both sides of one logit z, here -z/2 and z/2
    focus: tuple[str, ...] | None = None  # the fields to explain if nobody says, None for all
    target: int | None = None  # the label to explain if nobody says, None for the predicted one
    answers: Mapping[type[Question], Handler[Any]] = MappingProxyType({})  # who answers which question
    spelling: Mapping[Symbol, str] = Spelling("model", {})
    preferred_tokens: int = 1024
    most_rows: int | None = None
    most_places: int = 1 << 20  # places of a batch with logits over a whole vocabulary
    enough: int = 10**9  # tokens of equally long rows that make a batch without shorter rows
    line_tokens: int = 0  # tokens up to which the points of a line, each a sequence, go as one row

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, labels: {_listed(self.labels)}, reads {', '.join(self.fields)})"

    @property
    def missing(self) -> Mapping[type[Question], str]:
        """What it cannot be asked although models of its kind can, and why."""
        return {}

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found out about it, in sentences."""
        return ("Nothing is known of it but its answers.",)

    @property
    def side_by_side(self) -> frozenset[type[Question]]:
        """What it can be asked by two threads at once."""
        return frozenset()

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        """Rows of a question, ready for batching."""
        return self.answers[kind].encode(self, rows)

    def lengths(self, kind: type[Question], encoded: Sequence[Any]) -> Iterable[int]:
        """How many tokens a sequence of each encoded row has."""
        return self.answers[kind].lengths(self, encoded)

    def sequences(self, kind: type[Question], encoded: Sequence[Any]) -> Iterable[int] | None:
        """How many sequences each encoded row is; None where it is one each."""
        return self.answers[kind].sequences(self, encoded)

    def vocabulary_places(self, kind: type[Question], encoded: Sequence[Any]) -> Iterable[int] | None:
        """At how many places of each encoded row there are logits over a whole vocabulary; None where at none."""
        return self.answers[kind].vocabulary_places(self, encoded) if kind in self.answers else None

    def answer(self, kind: type[Question], batch: Sequence[Any]) -> Any:
        """The answer to a batch of encoded rows; may still lie on a device."""
        return self.answers[kind].answer(self, batch)

    def collect(self, kind: type[Question], outputs: Sequence[Any]) -> list[Any]:
        """The answers of several batches, row by row."""
        return self.answers[kind].collect(self, outputs)

    @abstractmethod
    def fingerprint(self) -> str:
        """Changes whenever the model's answers may change."""

    def names(self, text: Text) -> tuple[str, ...]:
        """What the labels are called for this text; where an outcome is explained, the outcome itself."""
        return self.labels

    def clip(self, text: Text) -> Text:
        """The part of a text that the model can see."""
        return text

    def pieces_of(self, text: Text) -> PieceWords | None:
        """Which words the pieces that it reads of a text belong to; None where nobody can say."""
        return None

    @property
    def bytes(self) -> int:
        """What it holds in memory, so that the engine can choose which models to keep; a guess where nobody knows."""
        return 16 << 20

    def derived(self, spec: str) -> TextModel:
        """Another model made of this one, such as `randomized:head:0`; this one stays as it is."""
        raise Unanswerable(
            f"the model {self.name} has no layers that Assay can reach, so there is no {spec!r} of it; "
            "a Hugging Face model has."
        )

    def on_device(self, device: str) -> TextModel:
        """The model on another device; itself, where it is no torch model."""
        return self

    def beside(self, other: TextModel) -> TextModel:
        """Another model that is asked together with this one: on its device, where both are torch models."""
        return other

    def enough_for(self, kind: type[Question]) -> int:
        """Tokens of equally long rows that make a batch without shorter rows, when it is asked this."""
        return self.enough

    def widening_for(self, kind: type[Question]) -> int:
        """How many times as large as others batches are best, when it is asked this."""
        return self.answers[kind].widening(self) if kind in self.answers else 1

    @property
    def turn(self) -> Turn:
        """Held by the thread that asks it: nobody can know whether a model may be asked by several at once."""
        turn: Turn = self.__dict__.setdefault("_turn", Turn())
        return turn

    def quiet(self) -> AbstractContextManager[None]:
        """Within it the model answers without randomness; after it the model is as before."""
        return nullcontext()

    def predict(self, texts: Sequence[Any]) -> Floats:
        """Probabilities [texts, labels]; a pair is a tuple of two strings."""
        from assay.questions.answers import Predictions
        from assay.questions.predict import Predict, Settle

        if isinstance(texts, str):
            texts = [texts]  # one text, and not its letters
        if not isinstance(texts, Iterable):
            raise BadText(f"predict takes a list of texts, not {texts!r:.60}.")
        given = [Text.of(text, names=self.fields, focus=self.focus) for text in texts]
        read = self._valued(Settle, [self.clip(text) for text in given]) if Settle in self.answers else given
        values = self._valued(Predict, [text.strings for text in read])
        return Predictions(np.array(values).reshape(len(given), len(self.labels)), self.multi_label).probabilities

    def _valued(self, kind: type[Question], rows: list[Any]) -> list[Any]:
        from assay.models.batching import Batcher  # packing knows this class; only the shortcut for users looks back

        values, _ = Batcher(self.preferred_tokens).answers(self, kind, rows)
        for value in values:
            if isinstance(value, Exception):
                raise value
        return values


def _listed(labels: Sequence[str], most: int = 6) -> str:
    """The first labels; a vocabulary has too many for a line."""
    more = f" and {len(labels) - most:,} more" if len(labels) > most else ""
    return (", ".join(labels[:most]) or "none") + more
