"""Attention over words as attention over pieces: what a model attends to is pieces, what is changed is words.

    a(piece) = what stays + mass * sum over words  w(word) part(piece of word)

The mass is all that the explained words have together in the model's own attention, `part` the proportions of a word's
pieces there (alike, where they have nothing). So weights that are the model's own give back its attention exactly, and
what special tokens and other fields have is theirs whatever the weights are. Pieces that the model never attends to
take no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from assay.models.transformers.inside import Inside
from assay.statistics.arrays import Floats

Bools = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Placing:
    """The way from words to pieces for one text and one attention."""

    stays: Floats  # [pieces]
    spread: Floats  # [words, pieces], each row the mass or nothing
    own: Floats  # [words], the model's own weights, their sum being 1
    open: Bools  # [words], whether a word can be attended to

    @classmethod
    def of(cls, row: Inside, own: Floats, attended: Bools) -> Self:
        """`own` is the model's attention over the pieces, `attended` the pieces that can have any."""
        owned = np.zeros((row.words, len(own)))
        owned[row.pieces.word, row.pieces.piece] = row.pieces.share
        owned *= attended
        held, sizes = owned @ own, owned.sum(axis=1)
        parts = np.where(held[:, None] > 0, owned * own, owned)
        totals = np.where(held > 0, held, sizes)
        parts = np.divide(parts, totals[:, None], out=np.zeros_like(parts), where=totals[:, None] > 0)
        mass = held.sum()
        shares = held / mass if mass > 0 else _alike(sizes > 0)
        return cls(own - own * owned.sum(axis=0), mass * parts, shares, sizes > 0)

    def pieces(self, weights: Floats) -> Floats:
        """Attentions over the pieces [k, pieces] in which the words have these weights [k, words]."""
        return np.asarray(self.stays + self.shares(weights) @ self.spread)

    def shares(self, weights: Floats) -> Floats:
        """Weights that sum to 1 over the words that can be attended to; alike, where all of them are zero."""
        held = weights * self.open
        totals = held.sum(axis=1, keepdims=True)
        return np.asarray(held / np.where(totals > 0, totals, 1) + (totals == 0) * _alike(self.open))


def _alike(open_words: Bools) -> Floats:
    return open_words / max(1, int(open_words.sum()))
