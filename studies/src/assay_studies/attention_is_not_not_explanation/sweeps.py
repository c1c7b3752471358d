"""Sweeps of adversaries, a seed each: the base and its adversaries are trained anew with every seed.

Numbers of one lambda are means over texts and seeds, and intervals are over both. An adversary that has not learned
(its F1 is not surely better than that of the commonest class) is no point of the curve. The curve is that of the means
over seeds; `weakest` is its bend without the lambda that bends it most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.checks.trained_adversary import AdversaryResult, bend
from assay.statistics.arrays import Floats, Ints
from assay.statistics.intervals import Estimate, estimate_over_seeds, mean_over_seeds, over_seeds
from assay.statistics.scoring import Scored
from assay_studies.rules import has_learned

_FEWEST = 4  # adversaries, so that three are left of them when one is taken away


@dataclass(frozen=True, eq=False)
class Sweeps:
    """The results of all seeds, which have the same lambdas and the same test texts."""

    results: tuple[AdversaryResult, ...]

    @property
    def lambdas(self) -> tuple[float, ...]:
        return self.results[0].lambdas

    @property
    def seeds(self) -> int:
        return len(self.results)

    @property
    def over(self) -> str:
        """What intervals are over."""
        return f"texts and {self.seeds} seeds" if self.seeds > 1 else "texts; each adversary is trained once"

    @cached_property
    def f1(self) -> dict[float, Estimate]:
        return {value: self.scores(i).f1 for i, value in enumerate(self.lambdas)}

    @cached_property
    def tvd(self) -> dict[float, Estimate]:
        return {value: mean_over_seeds(self._tvd[:, i]) for i, value in enumerate(self.lambdas)}

    @cached_property
    def jsd(self) -> dict[float, Estimate]:
        return {value: mean_over_seeds(self._jsd[:, i]) for i, value in enumerate(self.lambdas)}

    def scores(self, place: int) -> Scored:
        """Of one lambda, all seeds."""
        return _stacked([one.scores[place] for one in self.results])

    @cached_property
    def base(self) -> Scored:
        return _stacked([one.base for one in self.results])

    def f1_less_base(self, place: int) -> Estimate:
        """Paired: the same texts, and the base of the same seed."""
        return self.scores(place).above(self.base)

    @cached_property
    def learned(self) -> tuple[int, ...]:
        """The places of the lambdas whose adversaries have learned."""
        least = commonest(self.base)
        return tuple(i for i, value in enumerate(self.lambdas) if has_learned(self.f1[value], least))

    @property
    def bend(self) -> Estimate | None:
        return self._bend(self.learned) if len(self.learned) > 2 else None

    def weakest(self) -> tuple[float, Estimate] | None:
        """The lambda without which the curve bends least surely, and that bend: no single adversary decides."""
        if len(self.learned) < _FEWEST:
            return None
        rest = {i: self._bend([j for j in self.learned if j != i]) for i in self.learned}
        return least_sure({self.lambdas[i]: found for i, found in rest.items()}, self.bend)

    def best(self, at_least: float = 0.4) -> float | None:
        """The lambda with the highest F1 among those whose mean JSD is above this."""
        far = [value for value in self.lambdas if self.jsd[value].value > at_least]
        return max(far, key=lambda value: self.f1[value].value, default=None)

    @cached_property
    def _tvd(self) -> Floats:
        """[seeds, lambdas, texts]."""
        return np.stack([one.curve.tvd for one in self.results])

    @cached_property
    def _jsd(self) -> Floats:
        return np.stack([one.curve.jsd for one in self.results])

    def _bend(self, places: Sequence[int]) -> Estimate:
        order = sorted(places, key=lambda i: float(self._jsd[:, i].mean()))
        jsd, tvd, n = self._jsd[:, order], self._tvd[:, order], self._jsd.shape[2]

        def measure(counts: Floats, seeds: Ints) -> Floats:
            across, up = (self._means(counts / n, of, seeds) for of in (jsd, tvd))
            return bend(across, up)

        return estimate_over_seeds(n, self.seeds, measure)

    def _means(self, shares: Floats, of: Floats, seeds: Ints) -> Floats:
        """[resamples, lambdas]."""
        return np.stack([over_seeds(shares @ of[:, i].T, seeds) for i in range(of.shape[1])], axis=1)


def least_sure(rest: Mapping[float, Estimate], whole: Estimate | None) -> tuple[float, Estimate]:
    """Of the numbers without one adversary each, that which speaks least for what the whole says."""
    turned = -1 if whole is not None and whole.value < 0 else 1
    value = min(rest, key=lambda one: rest[one].low if turned > 0 else -rest[one].high)
    return value, rest[value]


def commonest(scored: Scored) -> float:
    """The F1 of saying the second of two labels always, or the mean F1 of the commonest of more."""
    counts, n = Counter(scored.gold.tolist()), len(scored.gold)
    binary = len(scored.labels) == 2
    share = (counts[1] if binary else max(counts.values())) / n
    return 2 * share / (1 + share) / (1 if binary else len(counts))


def _stacked(scored: Sequence[Scored]) -> Scored:
    """Models of several seeds as one; labels stand in the same order, as training sorts them."""
    first = scored[0]
    assert all(one.labels == first.labels for one in scored)
    return Scored(first.labels, first.gold, np.concatenate([one.said for one in scored]))
