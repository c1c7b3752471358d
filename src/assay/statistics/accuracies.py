"""Accuracies of models that differ in their seed only: intervals of the mean, and tests of a difference.

    welch       two-sample t-test without equal variances (Welch 1947, doi:10.1093/biomet/34.1-2.28)
    one_more    t = (m - mean r) / (sd r sqrt(1 + 1/R)),  R - 1 degrees of freedom: whether one more of r_1 ... r_R
                would be as low as m

Accuracies are counts of whole texts: a spread of less than one text is taken as one text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.special import stdtr, stdtrit

from assay.statistics.arrays import Floats
from assay.statistics.verdict import Verdict

_SURE = 0.975


def spread(accuracies: Floats, texts: int) -> float:
    """The standard deviation, at least one text."""
    return max(float(np.std(accuracies, ddof=1)), 1 / texts)


def interval(accuracies: Floats, texts: int) -> tuple[float, float]:
    """95 % of the mean; no accuracy is below 0 or above 1."""
    n, mean = len(accuracies), float(np.mean(accuracies))
    half = float(stdtrit(n - 1, _SURE)) * spread(accuracies, texts) / n**0.5
    return max(0.0, mean - half), min(1.0, mean + half)


def freedom(one: Floats, other: Floats, texts: int) -> float:
    """The degrees of freedom of the difference of the means, without equal variances."""
    parts = _errors(one, other, texts)
    return float(parts.sum() ** 2 / (parts**2 / (np.array([len(one), len(other)]) - 1)).sum())


def interval_of_difference(one: Floats, other: Floats, texts: int) -> tuple[float, float]:
    """95 % of the difference of the means, without equal variances."""
    half = float(stdtrit(freedom(one, other, texts), _SURE) * _errors(one, other, texts).sum() ** 0.5)
    difference = float(one.mean()) - float(other.mean())
    return difference - half, difference + half


def _errors(one: Floats, other: Floats, texts: int) -> Floats:
    """The squared standard errors of both means."""
    return np.array([spread(x, texts) ** 2 / len(x) for x in (one, other)])


def welch(one: Floats, other: Floats, texts: int, alternative: Literal["two-sided", "less"] = "two-sided") -> float:
    """The p-value of the two-sample t-test; `less` asks whether the first is lower."""
    a, b = ((float(np.mean(x)), spread(x, texts), len(x)) for x in (one, other))
    from scipy.stats import ttest_ind_from_stats  # slow to import, and only wanted here

    return float(ttest_ind_from_stats(*a, *b, equal_var=False, alternative=alternative).pvalue)


def one_more(value: float, random: Floats, texts: int) -> float:
    """The chance that one more random explanation is as low as this value."""
    n = len(random)
    return float(stdtr(n - 1, (value - np.mean(random)) / (spread(random, texts) * (1 + 1 / n) ** 0.5)))


@dataclass(frozen=True, eq=False, kw_only=True)
class RetrainedVerdict(Verdict):
    """Accuracies after words were removed by one method, per model, against those with random explanations.

    `share` is the share of the words that was removed, `texts` how many texts the accuracies are of.
    """

    share: float = 0.0
    texts: int = 1

    @cached_property
    def interval(self) -> tuple[float, float]:
        """95 % of the difference to random."""
        return interval_of_difference(self.scores, self.random_scores[:, 0], self.texts)

    @cached_property
    def ahead(self) -> float:
        """The share of pairs, a model of the method and one of random explanations, in which the first is better."""
        sign = 1 if self.better == "higher" else -1
        own, random = sign * self.scores[:, None], sign * self.random_scores[:, 0]
        return float(((own > random) + (own == random) / 2).mean())

    def _tail(self, sign: int) -> float:
        """One-sided, both tests; sign -1 asks whether the method is lower than random."""
        ours, random = -sign * self.scores, -sign * self.random_scores[:, 0]
        lower = welch(ours, random, self.texts, "less")
        return max(lower, one_more(float(ours.mean()), random, self.texts))

    def to_dict(self) -> dict[str, Any]:
        counts = {"random_scores": self.random_scores[:, 0].tolist(), "models": len(self.scores), "draws": 1}
        return super().to_dict() | {"share": self.share, "texts": self.texts} | counts


@dataclass(frozen=True, eq=False)
class Retrained:
    """The models of one method at one share."""

    method: str
    share: float
    accuracies: Floats

    def __post_init__(self) -> None:
        accuracies = np.array(self.accuracies, dtype=np.float64)
        accuracies.flags.writeable = False
        object.__setattr__(self, "accuracies", accuracies)

    @property
    def mean(self) -> float:
        return float(self.accuracies.mean())
