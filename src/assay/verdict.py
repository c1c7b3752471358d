"""What a check says of a method: never a bare number, always against random explanations of the same texts.

For text i let s_i be the score of the explanation and r_i1 ... r_iR those of random explanations.

    difference   mean_i (s_i - mean_j r_ij), with a 95 % bootstrap interval over texts (paired)
    p_value      the chance of a mean as good as mean_i s_i if each explanation were one more random one:
                 in every text, s_i changes places with one of {s_i, r_i1, ..., r_iR} at random (Phipson and Smyth 2010)

For one text there is nothing to resample; the interval then shows where the score lies against the random ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from assay.ask import Floats
from assay.registry import Better

# 10,000 resamples, in blocks so that memory stays small for many texts.
_BLOCKS, _BLOCK = 20, 500
_LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Verdict:
    """Scores of one method under one check: [texts], and [texts, draws] for random explanations."""

    method: str
    check: str
    better: Better
    scores: Floats
    random_scores: Floats
    warnings: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    seed: int = 0

    @property
    def mean(self) -> float:
        return float(self.scores.mean())

    @property
    def random(self) -> float:
        return float(self.random_scores.mean())

    @property
    def difference(self) -> float:
        return self.mean - self.random

    @cached_property
    def interval(self) -> tuple[float, float]:
        """95 % of the difference to random."""
        if len(self.scores) == 1:
            low, high = np.quantile(self.scores[0] - self.random_scores[0], [0.025, 0.975])
        else:
            low, high = np.quantile(self._resampled(), [0.025, 0.975])
        return float(low), float(high)

    @cached_property
    def p_value(self) -> float:
        """One-sided: how often random explanations would do as well."""
        sign = 1 if self.better == "higher" else -1
        values = sign * np.column_stack([self.scores, self.random_scores])
        seen = values[:, 0].mean()
        if len(values) == 1:
            return float((values[0] >= seen - _slack(values)).mean())
        chance = self._shuffled(values) >= seen - _slack(values)
        return float((1 + chance.sum()) / (1 + len(chance)))

    @property
    def better_than_random(self) -> bool:
        """Random explanations seldom do as well; with several texts the interval must agree (for one it is no test)."""
        return self.p_value <= _LEVEL and (self._gain[0] > 0 or len(self.scores) == 1)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        if self.better_than_random:
            return "better than random"
        return "worse than random" if self._gain[1] < 0 else "not distinguishable from random"

    @property
    def _gain(self) -> tuple[float, float]:
        """The interval, turned so that more is better."""
        low, high = self.interval
        return (low, high) if self.better == "higher" else (-high, -low)

    def to_dict(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "check": self.check,
            "mean": self.mean,
            "random": self.random,
            "difference": self.difference,
            "interval": list(self.interval),
            "p_value": self.p_value,
            "better": self.better,
            "better_than_random": self.better_than_random,
            "verdict": self.sentence,
            "texts": len(self.scores),
            "draws": self.random_scores.shape[1],
            "scores": self.scores.tolist(),
            "warnings": list(self.warnings),
            "parameters": dict(self.parameters),
            "model": self.model,
            "seed": self.seed,
        }

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    def _resampled(self) -> Floats:
        paired = self.scores - self.random_scores.mean(axis=1)
        rng = self._generator()
        picks = (rng.integers(len(paired), size=(_BLOCK, len(paired))) for _ in range(_BLOCKS))
        return np.concatenate([paired[pick].mean(axis=1) for pick in picks])

    def _shuffled(self, values: Floats) -> Floats:
        """Means after each text has drawn one of its values at random."""
        rng, rows = self._generator(), np.arange(len(values))
        picks = (rng.integers(values.shape[1], size=(_BLOCK, len(values))) for _ in range(_BLOCKS))
        return np.concatenate([values[rows, pick].mean(axis=1) for pick in picks])


def _slack(values: Floats) -> float:
    """Rounding must not decide a tie."""
    return float(1e-9 * max(1.0, np.abs(values).max()))
