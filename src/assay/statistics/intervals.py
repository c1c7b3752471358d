"""A number with its interval: 95 % percentile bootstrap over texts.

A statistic is a function of the means over texts of one or more columns, so that ratios of sums (a share of all
words) and the F1 of mean precision and mean recall are resampled as they are computed. A difference between two
methods is resampled on the same texts: it is paired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from assay.errors import BadInput
from assay.statistics.arrays import Floats

Statistic: TypeAlias = Callable[[Floats], Floats]
_DRAWS, _BLOCK = 4000, 250
_KEPT = 5000  # texts; their resamples take 20 MB
_LEAST = 20  # on fewer texts the bootstrap's intervals are too narrow to decide anything


@dataclass(frozen=True)
class Estimate:
    """A value, its interval, and the number of texts it rests on."""

    value: float
    low: float
    high: float
    n: int

    @property
    def few(self) -> bool:
        """Too few texts to decide anything."""
        return self.n < _LEAST

    @property
    def below(self) -> bool | None:
        """Whether the value lies under zero: None where the interval holds both sides, or the texts are few."""
        return None if self.few else True if self.high < 0 else False if self.low > 0 else None

    @property
    def above(self) -> bool | None:
        """The same for over zero."""
        return None if self.below is None else not self.below

    def shown(self, digits: int = 3, sign: str = "") -> str:
        """The value and its interval; a difference is shown with the sign "+"."""
        value, low, high = (f"{number:{sign}.{digits}f}" for number in (self.value, self.low, self.high))
        return f"{value} [{low}, {high}]"


def mean(means: Floats) -> Floats:
    """The mean of the only column."""
    return np.asarray(means[..., 0])


def ratio(means: Floats) -> Floats:
    """The sum of the first column over that of the second."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(means[..., 0] / means[..., 1])


def f1(means: Floats) -> Floats:
    """The harmonic mean of mean precision and mean recall; 0 where both are."""
    total = means[..., 0] + means[..., 1]
    return np.asarray(2 * means[..., 0] * means[..., 1] / np.where(total == 0, 1, total))


def estimate(columns: Floats, statistic: Statistic = mean) -> Estimate | None:
    """The statistic of columns [texts] or [texts, k]; None where it has no value, as a ratio to nothing has none."""
    table = _table(columns)
    return _estimate(table, statistic)


def difference(one: Floats, other: Floats, statistic: Statistic = mean) -> Estimate | None:
    """The statistic of the first less that of the second, both on the same texts."""
    a, b = _table(one), _table(other)
    if len(a) != len(b):
        raise BadInput(f"a paired difference needs the same texts, not {len(a)} and {len(b)}.")
    k = a.shape[1]
    return _estimate(np.hstack([a, b]), lambda means: statistic(means[..., :k]) - statistic(means[..., k:]))


def _table(columns: Floats) -> Floats:
    found = np.asarray(columns, dtype=np.float64)
    return found[:, None] if found.ndim == 1 else found


def _estimate(table: Floats, statistic: Statistic) -> Estimate | None:
    if not len(table):
        return None
    value = float(statistic(table.mean(axis=0)))
    if not np.isfinite(value):
        return None
    drawn = statistic(_resampled_means(table))
    low, high = np.quantile(drawn[np.isfinite(drawn)], [0.025, 0.975])  # a draw may miss all that a ratio rests on
    return Estimate(value, float(low), float(high), len(table))


def _resampled_means(table: Floats) -> Floats:
    """The means of the columns in every resample; always the same resamples of as many texts."""
    n = len(table)
    return np.concatenate([count @ table / n for count in (_kept(n) if n <= _KEPT else _draws(n))])


@lru_cache(maxsize=4)
def _kept(n: int) -> tuple[Any, ...]:
    """Drawing takes far longer than counting, and a table asks for many estimates of as many texts."""
    return tuple(count.astype(np.uint8) for count in _draws(n))


def _draws(n: int) -> Iterator[Any]:
    """How often each text is in a resample [draws, texts], block by block."""
    rng = np.random.default_rng(0)
    return (rng.multinomial(n, np.full(n, 1 / n), size=_BLOCK) for _ in range(_DRAWS // _BLOCK))
