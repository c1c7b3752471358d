"""Attention sought text by text, as in the first paper, on the base: the cross of Figures 5 and 6.

For each text that attention, of those that move the answer by no more than epsilon, which is farthest from the base's
own (Jain and Wallace, Algorithm 3). The second paper says that this is easier than to train a model that looks
elsewhere: the cross lies below the curve of trained adversaries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from assay.checks.trained_adversary import Curve
from assay.models import TextModel
from assay.statistics.arrays import Floats, Ints
from assay.statistics.intervals import Estimate, estimate_over_seeds
from assay.text.example import Example
from assay.workflows.audit import audit_attention


@dataclass(frozen=True, eq=False)
class Sought:
    """Which test texts were chosen, how far attention could be moved there, and how far the answer followed."""

    places: Ints
    jsd: Floats
    tvd: Floats

    def below(self, curve: Curve, points: Sequence[int] | None = None) -> Estimate:
        """How far it lies below the curve at its own JSD, in units of TVD, on the same texts.

        Between two points the curve is straight, beyond its ends it goes on level. `points` are those of the curve,
        None for all.
        """
        own, n = curve.at(self.places), len(self.places)
        chosen = slice(None) if points is None else list(points)
        jsd, tvd = own.jsd[chosen], own.tvd[chosen]

        def measure(counts: Floats, seeds: Ints) -> Floats:
            x, y = counts @ jsd.T / n, counts @ tvd.T / n
            at = counts @ self.jsd / n
            return _heights(x, y, at) - counts @ self.tvd / n

        return estimate_over_seeds(n, 1, measure)

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name).tolist() for name in ("places", "jsd", "tvd")}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(**{name: np.array(data[name]) for name in ("places", "jsd", "tvd")})


def sought(base: TextModel, test: Sequence[Example], count: int, progress: bool | None = None) -> Sought:
    """On so many test texts, evenly chosen."""
    places = np.unique(np.linspace(0, len(test) - 1, min(count, len(test))).round().astype(int))
    texts = [test[i].text for i in places]
    found = audit_attention(base, texts, permutations=1, progress=progress).texts
    return Sought(places, np.array([one.jsd for one in found]), np.array([one.adversary_tvd for one in found]))


def _heights(x: Floats, y: Floats, at: Floats) -> Floats:
    """The height of each curve [draws, points] at one place [draws]."""
    order = np.argsort(x, axis=1, kind="stable")
    rows = zip(at, np.take_along_axis(x, order, 1), np.take_along_axis(y, order, 1), strict=True)
    return np.array([np.interp(one, across, up) for one, across, up in rows])
