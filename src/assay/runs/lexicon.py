"""Which words matter most over a dataset: the mean score of each word, for each method and explained label.

    mean_w = sum of the scores of w / n_w,    interval = mean_w +- t s_w / sqrt(n_w)

t is Student's with n_w - 1 degrees of freedom, at a level such that all intervals of a list hold together with 95 %
(Bonferroni): many words are looked at, and of random scores too some would seem to matter. Words are ordered by the end
of the interval that is nearer to zero. The variance of a word is drawn towards that of all words by one
pseudo-occurrence: two equal scores are no certainty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

from scipy.stats import t as student

from assay.views.report import Word, WordList

_TOP, _LEAST, _MOST = 12, 3, 400_000


@dataclass
class Lexicon:
    """Counts, sums and sums of squares by word; when there are too many words, those seen once are forgotten."""

    signed: bool = True
    sums: dict[str, list[float]] = field(default_factory=dict)

    def add(self, words: Iterable[str], scores: Iterable[float]) -> None:
        for word, score in zip(words, scores, strict=True):
            known = self.sums.setdefault(word.lower(), [0.0, 0.0, 0.0])
            known[0] += 1
            known[1] += score
            known[2] += score * score
        if len(self.sums) > _MOST:
            self.sums = {word: known for word, known in self.sums.items() if known[0] > 1}

    def words(self) -> list[Word]:
        """Those that occur often enough to say anything."""
        total = [sum(column) for column in zip(*self.sums.values(), strict=True)] or [1.0, 0.0, 0.0]
        spread = max(0.0, total[2] / total[0] - (total[1] / total[0]) ** 2)
        least = min(_LEAST, max((known[0] for known in self.sums.values()), default=1))
        often = {w: known for w, known in self.sums.items() if known[0] >= least and _is_word(w)}
        level = 1 - 0.025 / max(1, len(often))
        reach = {n: float(student.ppf(level, max(1, n - 1))) for n in {known[0] for known in often.values()}}
        return [_word(w, known, spread, reach[known[0]]) for w, known in often.items()]


def _word(word: str, known: Sequence[float], spread: float, reach: float) -> Word:
    n, total, squares = known
    mean = total / n
    variance = (max(0.0, squares - n * mean * mean) + spread) / (n + 1)
    error = reach * sqrt(variance / n)
    return Word(word, mean, mean - error, mean + error, int(n))


def _is_word(word: str) -> bool:
    return any(sign.isalnum() for sign in word)


class Lexicons:
    """One lexicon per method and label."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], Lexicon] = {}

    def add(self, record: Mapping[str, Any], signed: bool) -> None:
        if record["scores"] is not None:
            key = (record["method"], record["target"])
            self.found.setdefault(key, Lexicon(signed)).add(record["words"], record["scores"])

    def lists(self) -> list[WordList]:
        return [_listed(*key, lexicon) for key, lexicon in self.found.items()]


def _listed(method: str, target: str, lexicon: Lexicon) -> WordList:
    words = lexicon.words()
    up = sorted((w for w in words if w.low > 0), key=lambda w: (-w.low, w.word))[:_TOP]
    down = sorted((w for w in words if w.high < 0), key=lambda w: (w.high, w.word))[:_TOP]
    return WordList(method, target, tuple(up), tuple(down), lexicon.signed)
