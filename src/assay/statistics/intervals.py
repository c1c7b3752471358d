"""A number with its 95 % interval: one type, and one bootstrap (percentiles of resamples of the texts).

A statistic is a function of the means over texts of one or more columns, so that ratios of sums (a share of all
words) and the F1 of mean precision and mean recall are resampled as they are computed. A difference between two
methods is resampled on the same texts: it is paired. Where models were trained with several seeds, each resample draws
seeds too, and the interval is of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from assay.errors import BadInput
from assay.statistics.arrays import Floats, Ints
from assay.statistics.resampling import resamples

T = TypeVar("T")
Statistic: TypeAlias = Callable[[Floats], Floats]
# counts of texts [resamples, texts], seeds [resamples, seeds] -> [resamples]
SeededStatistic: TypeAlias = Callable[[Floats, Ints], Floats]
_LEAST = 20  # on fewer texts the bootstrap's intervals are too narrow to decide anything
_EDGES = (0.025, 0.975)
_COLUMNS = 256  # resampled together, to bound the memory


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

    @property
    def sign(self) -> int:
        """1 where the whole interval is above zero, -1 where it is below, 0 where it holds both sides."""
        return int(self.low > 0) - int(self.high < 0)

    def shown(self, digits: int = 3, sign: str = "") -> str:
        """The value and its interval; a difference is shown with the sign "+"."""
        value, low, high = (f"{number:{sign}.{digits}f}" for number in (self.value, self.low, self.high))
        return f"{value} [{low}, {high}]"


def bootstrap(statistic: Callable[[T], Floats], blocks: Iterable[T]) -> tuple[float, float]:
    """The 95 % interval of a statistic: the percentiles of its values in all resamples, which come in blocks."""
    values = np.concatenate([statistic(block) for block in blocks])
    low, high = np.quantile(values[np.isfinite(values)], _EDGES)  # a resample may miss all that a ratio rests on
    return float(low), float(high)


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
    if not len(table):
        return None
    value = float(statistic(table.mean(axis=0)))
    if not np.isfinite(value):
        return None
    n = len(table)
    return Estimate(value, *bootstrap(lambda some: statistic(some.counts @ table / n), resamples(n)), n)


def difference(one: Floats, other: Floats, statistic: Statistic = mean) -> Estimate | None:
    """The statistic of the first less that of the second, both on the same texts."""
    a, b = _table(one), _table(other)
    if len(a) != len(b):
        raise BadInput(f"a paired difference needs the same texts, not {len(a)} and {len(b)}.")
    k = a.shape[1]
    return estimate(np.hstack([a, b]), lambda means: statistic(means[..., :k]) - statistic(means[..., k:]))


def column_means(table: Floats) -> tuple[Floats, Floats, Floats]:
    """The mean of each column [texts, k] and the ends of its interval: `estimate` of thousands of columns at once."""
    rows = _table(table)
    n = len(rows)
    ends = [_column_ends(rows[:, k : k + _COLUMNS], n) for k in range(0, rows.shape[1], _COLUMNS)]
    low, high = np.concatenate(ends, axis=1) if ends else np.zeros((2, 0))
    return rows.mean(axis=0), low, high


def _column_ends(columns: Floats, n: int) -> Floats:
    values = np.concatenate([some.counts @ columns / n for some in resamples(n)])
    return np.asarray(np.quantile(values, _EDGES, axis=0))


def estimate_over_seeds(texts: int, seeds: int, statistic: SeededStatistic) -> Estimate:
    """A statistic of texts and of models that differ in their seed, all resampled together."""
    whole = statistic(np.ones((1, texts)), np.arange(seeds)[None])
    blocks = resamples(texts, seeds)
    edges = bootstrap(lambda some: statistic(some.counts.astype(np.float64), some.seeds), blocks)
    return Estimate(float(whole[0]), *edges, texts)


def mean_over_seeds(table: Floats) -> Estimate:
    """The mean of numbers [texts] or [seeds, texts]."""
    rows = np.atleast_2d(table)
    texts = rows.shape[1]
    return estimate_over_seeds(texts, len(rows), lambda counts, seeds: over_seeds(counts @ rows.T / texts, seeds))


def over_seeds(values: Floats, seeds: Ints) -> Floats:
    """The mean over the resampled seeds of values [resamples, seeds]."""
    return np.asarray(np.take_along_axis(values, seeds, axis=1).mean(axis=1))


def _table(columns: Floats) -> Floats:
    found = np.asarray(columns, dtype=np.float64)
    return found[:, None] if found.ndim == 1 else found
