"""A verdict on models that are alike but for one thing: F1 with it against F1 without it, on the same texts and seeds.

p_value      the share of bootstrap resamples of texts and seeds in which the difference is not on the better side
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from assay.statistics.arrays import Floats
from assay.statistics.scoring import Scored
from assay.statistics.verdict import Verdict


@dataclass(frozen=True, eq=False, kw_only=True)
class F1Verdict(Verdict):
    """F1 by seed; in the place of random explanations stands the model that `reference` is of."""

    models: Scored
    reference: Scored

    @classmethod
    def of(cls, method: str, check: str, models: Scored, reference: Scored, **about: Any) -> F1Verdict:
        ours, others = (np.array(one.f1_by_seed) for one in (models, reference))
        return cls(method, check, "higher", ours, others[:, None], models=models, reference=reference, **about)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """95 % of the difference, over texts and seeds."""
        found = self.models.above(self.reference)
        return found.low, found.high

    @cached_property
    def _differences(self) -> Floats:
        return self.models.resampled_difference(self.reference)

    def _tail(self, sign: int) -> float:
        return float((1 + (sign * self._differences <= 0).sum()) / (1 + len(self._differences)))

    def to_dict(self) -> dict[str, Any]:
        counts = {"texts": len(self.models.gold), "models": len(self.scores), "draws": 1}
        return super().to_dict() | counts | {"random_scores": self.random_scores[:, 0].tolist()}
