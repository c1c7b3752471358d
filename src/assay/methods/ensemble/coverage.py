"""Which words matter in which texts."""

from __future__ import annotations

import numpy as np

from assay.explanations.token_scores import TokenScores
from assay.statistics.arrays import Floats


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
