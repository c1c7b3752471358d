"""Which words matter in which texts, and the texts that cover most of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.explanations.token_scores import TokenScores
from assay.statistics.arrays import Floats

_ROUNDING = 1e-12  # sums that differ by less are equal, or rounding would decide between equally good texts


class WordWeights:
    """The matrix W of texts and words, row by row as explanations come in; only what is not 0 is kept.

    Of each text the `most` strongest words count (None: all); among equally strong ones the first in the text.
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        self._index: dict[str, int] = {}
        self._sums: list[float] = []  # for each word, the sum of |W_ij| over the texts
        self._rows: list[tuple[int, ...]] = []

    def add(self, e: TokenScores) -> WordWeights:
        """Take in one explanation; the weights themselves are returned, so that this is a fold of Each."""
        scores: dict[str, float] = {}
        for word, score in zip(e.words, e.scores.tolist(), strict=True):
            scores[word.lower()] = scores.get(word.lower(), 0.0) + score
        strongest = sorted(scores, key=lambda word: -abs(scores[word]))[: self.most]
        row = []
        for word in strongest:
            if scores[word]:
                j = self._index.setdefault(word, len(self._index))
                if j == len(self._sums):
                    self._sums.append(0.0)
                self._sums[j] += abs(scores[word])
                row.append(j)
        self._rows.append(tuple(sorted(row)))
        return self

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self._index)

    @property
    def importance(self) -> Floats:
        """I_j = sqrt(sum_i |W_ij|)."""
        return np.sqrt(np.array(self._sums, dtype=np.float64))

    @property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """For each text the words that count in it."""
        return tuple(self._rows)


def greedy_picks(rows: Sequence[Sequence[int]], importance: Floats, picks: int) -> list[int]:
    """Texts in the order in which they are picked, each time one that adds most; among equals the first."""
    lengths = [len(row) for row in rows]
    texts = np.repeat(np.arange(len(rows)), lengths)
    words = np.fromiter((word for row in rows for word in row), dtype=np.intp, count=sum(lengths))
    left = importance.astype(np.float64)  # what a word would add: nothing once it is covered
    free = np.ones(len(rows), dtype=bool)
    chosen: list[int] = []
    for _ in range(min(picks, len(rows))):
        gains = np.where(free, np.bincount(texts, weights=left[words], minlength=len(rows)), -1.0)
        best = int(np.flatnonzero(gains >= gains.max() - _ROUNDING * importance.sum())[0])
        chosen.append(best)
        free[best] = False
        left[words[texts == best]] = 0.0
    return chosen
