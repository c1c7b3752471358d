"""F1 and accuracy of models on the same texts, with intervals over texts and seeds.

    F1 = 2 tp / (2 tp + fp + fn)

of the second label where there are two, else the mean over the labels that the texts have. Differences are paired: the
same texts and seeds on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from assay.statistics.arrays import Floats, Ints
from assay.statistics.intervals import Estimate, estimate_over_seeds, over_seeds
from assay.statistics.resampling import resamples


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
    def f1(self) -> Estimate:
        return self._estimate(self._f1)

    @property
    def accuracy(self) -> Estimate:
        return self._estimate(self._accuracy)

    @property
    def f1_by_seed(self) -> list[float]:
        return [float(value) for value in self._f1(np.ones((1, len(self.gold))))[0]]

    def above(self, other: Scored) -> Estimate:
        """How much higher this F1 is."""
        return self._estimate(lambda counts: self._f1(counts) - other._f1(counts))

    def resampled_difference(self, other: Scored) -> Floats:
        """How much higher this F1 is in each bootstrap resample."""
        blocks = resamples(len(self.gold), len(self.said))
        found = [(block.counts.astype(np.float64), block.seeds) for block in blocks]
        return np.concatenate([over_seeds(self._f1(counts) - other._f1(counts), seeds) for counts, seeds in found])

    def to_dict(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "gold": self.gold.tolist(), "said": self.said.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(tuple(data["labels"]), np.array(data["gold"]), np.array(data["said"]))

    def _estimate(self, values: Callable[[Floats], Floats]) -> Estimate:
        return estimate_over_seeds(
            len(self.gold), len(self.said), lambda counts, seeds: over_seeds(values(counts), seeds)
        )

    def _accuracy(self, counts: Floats) -> Floats:
        return np.asarray(counts @ (self.said == self.gold).T / len(self.gold))

    def _f1(self, counts: Floats) -> Floats:
        """[resamples, seeds]."""
        wanted = [1] if len(self.labels) == 2 else np.unique(self.gold).tolist()
        return np.mean([self._of(label, counts) for label in wanted], axis=0)  # type: ignore[no-any-return]

    def _of(self, label: int, counts: Floats) -> Floats:
        is_it, said_it = self.gold == label, self.said == label
        hits = counts @ (is_it & said_it).T
        both = counts @ said_it.T + (counts @ is_it)[:, None]
        return np.asarray(2 * np.divide(hits, both, out=np.zeros_like(hits), where=both > 0))
