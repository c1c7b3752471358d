"""What the engine needs of a model: encode rows, answer a batch, collect the answers.

An adapter says which questions it `answers`; everything else (order, packing, memory, caching) is the engine's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from assay.ask import Floats, Question, Symbol
from assay.errors import Unanswerable
from assay.text import Text


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
    multi_label: bool = False
    focus: tuple[str, ...] | None = None  # the fields to explain if nobody says, None for all
    target: int | None = None  # the label to explain if nobody says, None for the predicted one
    answers: frozenset[type[Question]] = frozenset()
    spelling: Mapping[Symbol, str] = Spelling("model", {})
    preferred_tokens: int = 1024
    most_rows: int | None = None
    enough: int = 10**9  # tokens of equally long rows that make a batch without shorter rows

    @abstractmethod
    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        """Rows ready for batching."""

    def lengths(self, encoded: Sequence[Any]) -> Iterable[int]:
        """What each encoded row costs, in tokens."""
        return map(len, encoded)

    @abstractmethod
    def answer(self, kind: type[Question], batch: Sequence[Any]) -> Any:
        """The model's answer to a batch of encoded rows; may still lie on a device."""

    @abstractmethod
    def collect(self, kind: type[Question], outputs: Sequence[Any]) -> list[Any]:
        """The answers of several batches, row by row: float64 arrays (or Fills)."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Changes whenever the model's answers may change."""

    def clip(self, text: Text) -> Text:
        """The part of a text that the model can see."""
        return text

    def quiet(self) -> AbstractContextManager[None]:
        """Within it the model answers without randomness; after it the model is as before."""
        return nullcontext()

    def predict(self, texts: Sequence[Any]) -> Floats:
        """Probabilities [texts, labels]; a pair is a tuple of two strings."""
        from assay.ask import Predict, Predictions
        from assay.models.packing import Batcher  # packing knows this class; only the shortcut for users looks back

        rows: list[Hashable] = [Text.of(text, names=self.fields).strings for text in texts]
        values, _ = Batcher(self.preferred_tokens).answers(self, Predict, rows)
        for value in values:
            if isinstance(value, Exception):
                raise value
        return Predictions(np.array(values).reshape(len(rows), len(self.labels)), self.multi_label).probabilities
