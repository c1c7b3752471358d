"""Numbers with intervals: F1 and accuracy of models on the same texts, and means over texts.

    F1 = 2 tp / (2 tp + fp + fn)

of the second label where there are two, else the mean over the labels that the texts have. Intervals are of 95 %, from
2,000 bootstrap samples of the texts; where several seeds were trained, each sample draws seeds too, so that the
interval is of both. Differences are paired: the same texts and seeds on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np

from assay.statistics.arrays import Floats, Ints

_DRAWS, _BLOCK = 2000, 100
_KEPT = 10_000  # texts; their samples take 20 MB
Measure = Callable[[Floats, Ints], Floats]  # counts of texts [draws, texts], seeds [draws, seeds] -> [draws]


@dataclass(frozen=True)
class Number:
    """A value and its interval."""

    value: float
    low: float
    high: float

    def shown(self, sign: str = "") -> str:
        return f"{self.value:{sign}.3f} [{self.low:{sign}.3f}, {self.high:{sign}.3f}]"

    @property
    def sure(self) -> int:
        """1 where the whole interval is above zero, -1 where it is below."""
        return int(self.low > 0) - int(self.high < 0)


def number(texts: int, seeds: int, measure: Measure) -> Number:
    """What is measured of all texts and seeds, and its interval."""
    whole = measure(np.ones((1, texts)), np.arange(seeds)[None])
    draws = _kept(texts, seeds) if texts <= _KEPT else _draws(texts, seeds)
    drawn = [measure(counts.astype(np.float64), chosen) for counts, chosen in draws]
    low, high = np.quantile(np.concatenate(drawn), [0.025, 0.975])
    return Number(float(whole[0]), float(low), float(high))


@lru_cache(maxsize=4)
def _kept(texts: int, seeds: int) -> tuple[tuple[Any, Ints], ...]:
    """Drawing takes far longer than counting, and a page asks for many numbers of the same texts."""
    return tuple((counts.astype(np.uint8), chosen) for counts, chosen in _draws(texts, seeds))


def _draws(texts: int, seeds: int) -> Iterator[tuple[Any, Ints]]:
    """How often each text is in a sample [draws, texts], and which seeds are [draws, seeds]; always the same ones."""
    rng, even = np.random.default_rng(0), np.full(texts, 1 / texts)
    for _ in range(_DRAWS // _BLOCK):
        yield rng.multinomial(texts, even, size=_BLOCK), rng.integers(seeds, size=(_BLOCK, seeds))


def mean(table: Floats) -> Number:
    """Of numbers [texts] or [seeds, texts]."""
    rows = np.atleast_2d(table)
    return number(rows.shape[1], len(rows), lambda counts, seeds: _over(counts @ rows.T / rows.shape[1], seeds))


def _over(values: Floats, seeds: Ints) -> Floats:
    """The mean over the drawn seeds of values [draws, seeds]."""
    return np.asarray(np.take_along_axis(values, seeds, axis=1).mean(axis=1))


@dataclass(frozen=True, eq=False)
class Scored:
    """Models that differ in their seed only: the numbers of predicted labels [seeds, texts] and of right ones."""

    labels: tuple[str, ...]
    gold: Ints
    said: Ints

    @classmethod
    def of(cls, labels: Sequence[str], gold: Sequence[str], said: Sequence[Ints]) -> Self:
        place = {name: i for i, name in enumerate(labels)}
        return cls(tuple(labels), np.array([place[name] for name in gold]), np.stack(list(said)))

    @property
    def f1(self) -> Number:
        return self._number(self._f1)

    @property
    def accuracy(self) -> Number:
        return self._number(self._accuracy)

    @property
    def f1_by_seed(self) -> list[float]:
        return [float(value) for value in self._f1(np.ones((1, len(self.gold))))[0]]

    def above(self, other: Scored) -> Number:
        """How much higher this F1 is."""
        return self._number(lambda counts: self._f1(counts) - other._f1(counts))

    def to_dict(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "gold": self.gold.tolist(), "said": self.said.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(tuple(data["labels"]), np.array(data["gold"]), np.array(data["said"]))

    def _number(self, values: Callable[[Floats], Floats]) -> Number:
        return number(len(self.gold), len(self.said), lambda counts, seeds: _over(values(counts), seeds))

    def _accuracy(self, counts: Floats) -> Floats:
        return np.asarray(counts @ (self.said == self.gold).T / len(self.gold))

    def _f1(self, counts: Floats) -> Floats:
        """[draws, seeds]."""
        wanted = [1] if len(self.labels) == 2 else np.unique(self.gold).tolist()
        return np.mean([self._of(label, counts) for label in wanted], axis=0)  # type: ignore[no-any-return]

    def _of(self, label: int, counts: Floats) -> Floats:
        is_it, said_it = self.gold == label, self.said == label
        hits = counts @ (is_it & said_it).T
        both = counts @ said_it.T + (counts @ is_it)[:, None]
        return np.asarray(2 * np.divide(hits, both, out=np.zeros_like(hits), where=both > 0))
