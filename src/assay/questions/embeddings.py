"""Rows of the input embedding: what the model knows of a word before it has read a text.

    found = yield Embeddings(["nurse", "engineer"])                    -> WordVectors of these words
    found = yield Embeddings()                                         -> of all tokens that are whole words

A word is looked up as it stands inside a sentence, after a blank. One of several pieces is the mean of their rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from assay.errors import BadInput
from assay.questions.answers import OfNumbers
from assay.questions.base import Question, Speaker


@dataclass(frozen=True)
class WordVectors(OfNumbers):
    """Vectors [words, size], of how many pieces each is the mean, and whether the model knows the word at all."""

    words: tuple[str, ...]
    vectors: np.ndarray[Any, np.dtype[np.float64]]
    pieces: tuple[int, ...]
    known: tuple[bool, ...]


class EmbeddingRow(NamedTuple):
    """A word, or None for the whole vocabulary."""

    word: str | None


class Embeddings(Question):
    """Vectors of these words, or of the whole words of the vocabulary; the model is not run for them."""

    remembered = False

    def __init__(self, words: Sequence[str] | None = None) -> None:
        if words is not None and not (words and all(word.strip() for word in words)):
            raise BadInput("Embeddings needs at least one word, and words that are not blank.")
        self.words = words

    def rows(self, model: Speaker) -> Sequence[EmbeddingRow]:
        return [EmbeddingRow(None)] if self.words is None else list(map(EmbeddingRow, self.words))

    @classmethod
    def sequences(cls, rows: Collection[Any]) -> int:
        """None: no sequence is read for a row of a table."""
        return 0

    def assemble(self, values: Sequence[WordVectors], model: Speaker) -> WordVectors:
        return WordVectors(
            tuple(word for one in values for word in one.words),
            np.concatenate([one.vectors for one in values]),
            tuple(count for one in values for count in one.pieces),
            tuple(known for one in values for known in one.known),
        )
