"""What a check says of a method: never a bare number, always against random explanations of the same texts.

For text i let s_i be the score of the explanation and r_i1 ... r_iR those of random explanations.

    difference   mean_i (s_i - mean_j r_ij), with a 95 % interval over texts (paired): the percentiles of the bootstrap,
                 and from 5 to 99 texts, where these are too narrow, the wider one of `few_texts.py`
    p_value      the chance of a mean as good as mean_i s_i if each explanation were one more random one:
                 in every text, s_i changes places with one of {s_i, r_i1, ..., r_iR} at random (Phipson and Smyth 2010)

For one text there is nothing to resample, and up to four do not show how texts differ. The interval then is of these
texts alone: where their mean score lies against those that random explanations of them could have got, and at least
from the lowest to the highest difference.

Most checks a method passes when it beats random explanations. Some are won by random ones, which owe nothing to the
model they forget (randomization): there `chance` is "reach", and a method passes unless it does worse than random.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from assay.statistics.arrays import Floats
from assay.statistics.few_texts import ENOUGH, FEWEST, interval_of_few
from assay.statistics.intervals import Estimate, bootstrap
from assay.statistics.resampling import indices

Better = Literal["higher", "lower"]
Effect = Literal["negligible", "small", "medium", "large"]
Chance = Literal["beat", "reach"]  # what random explanations are to a check: an opponent, or won by construction
LEVEL = 0.05
# Cliff's delta from which an effect is more than negligible, small, medium (Romano et al. 2006).
_EFFECTS: tuple[tuple[float, Effect], ...] = ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"))


@dataclass(frozen=True, eq=False)
class Verdict:
    """Scores of one method under one check: [texts], and [texts, draws] for random explanations.

    `facts` are means over the texts of what else the check measured; `parameters` are the check's, and
    `method_parameters` the method's (None where nobody says): a method with other settings is another method.
    """

    method: str
    check: str
    better: Better
    scores: Floats
    random_scores: Floats
    warnings: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    seed: int = 0
    facts: Mapping[str, float] = field(default_factory=dict)
    chance: Chance = "beat"
    method_parameters: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        return f"Verdict: {self.brief}"

    @property
    def brief(self) -> str:
        """The verdict with its numbers, in one line."""
        low, high = self.interval
        difference = f"{self.difference:+.3g} [{low:+.3g}, {high:+.3g}]"
        numbers = f"{self.mean:.3g} where random gets {self.random:.3g}, difference {difference}"
        texts = f"{len(self.scores)} text{'' if len(self.scores) == 1 else 's'}"
        return f"{self.method}, {self.check}: {self.sentence} ({numbers}, p {self.p_value:.3g}, {texts})"

    def about(self, method: str, parameters: Mapping[str, Any]) -> bool:
        """Whether it is on explanations by this method with these settings."""
        same = self.method_parameters is None or dict(self.method_parameters) == dict(parameters)
        return self.method == method and same

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
        """95 % of the difference to random: over texts, or for few texts over random explanations of these."""
        n, paired = len(self.scores), self.scores - self.random_scores.mean(axis=1)
        if n == 1:
            return bootstrap(np.asarray, [self.scores[0] - self.random_scores[0]])
        if n < FEWEST:
            rows, chosen = np.arange(n), indices(n, self.random_scores.shape[1], self.seed)
            low, high = bootstrap(lambda pick: self.mean - self.random_scores[rows, pick].mean(axis=1), chosen)
            return min(low, float(paired.min())), max(high, float(paired.max()))
        if n < ENOUGH:
            return interval_of_few(paired, indices(n, n, self.seed))
        return bootstrap(lambda chosen: paired[chosen].mean(axis=1), indices(n, n, self.seed))

    @property
    def estimate(self) -> Estimate:
        """The difference to random as an estimate."""
        return Estimate(self.difference, *self.interval, len(self.scores))

    @cached_property
    def p_value(self) -> float:
        """One-sided: how often random explanations would do as well."""
        return self._tail(1 if self.better == "higher" else -1)

    @cached_property
    def p_worse(self) -> float:
        """One-sided: how often random explanations would do as badly."""
        return self._tail(-1 if self.better == "higher" else 1)

    def _tail(self, sign: int) -> float:
        values = sign * np.column_stack([self.scores, self.random_scores])
        seen = values[:, 0].mean()
        if len(values) == 1:
            return float((values[0] >= seen - _slack(values)).mean())
        rows = np.arange(len(values))
        shuffled = [values[rows, pick].mean(axis=1) for pick in indices(len(values), values.shape[1], self.seed)]
        chance = np.concatenate(shuffled) >= seen - _slack(values)
        return float((1 + chance.sum()) / (1 + len(chance)))

    @cached_property
    def ahead(self) -> float:
        """The share of random explanations of the same text that the method is ahead of, ties half; 1/2 is chance."""
        sign = 1 if self.better == "higher" else -1
        own, random = sign * self.scores[:, None], sign * self.random_scores
        return float(((own > random) + (own == random) / 2).mean())

    @property
    def effect(self) -> Effect:
        """How large the difference is beside the spread of random explanations, whatever the p-value: by `ahead`."""
        delta = abs(2 * self.ahead - 1)
        return next((name for below, name in _EFFECTS if delta < below), "large")

    @property
    def better_than_random(self) -> bool:
        """Random explanations seldom do as well; with several texts the interval must agree (for one it is no test)."""
        return self.p_value <= LEVEL and (self._gain[0] > 0 or len(self.scores) == 1)

    @property
    def worse_than_random(self) -> bool:
        """The same the other way."""
        return self.p_worse <= LEVEL and (self._gain[1] < 0 or len(self.scores) == 1)

    @property
    def passed(self) -> bool:
        """Whether the check speaks for the method: it beats random explanations, or does no worse where these win."""
        return self.better_than_random if self.chance == "beat" else not self.worse_than_random

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        if self.worse_than_random:
            return "worse than random"
        if self.chance == "reach":
            return "no worse than random"
        return "better than random" if self.better_than_random else "not distinguishable from random"

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
            "ahead": self.ahead,
            "effect": self.effect,
            "better": self.better,
            "better_than_random": self.better_than_random,
            "verdict": self.sentence,
            "passed": self.passed,
            "texts": len(self.scores),
            "draws": self.random_scores.shape[1],
            "scores": self.scores.tolist(),
            "facts": dict(self.facts),
            "warnings": list(self.warnings),
            "parameters": dict(self.parameters),
            "method_parameters": None if self.method_parameters is None else _written(self.method_parameters),
            "model": self.model,
            "seed": self.seed,
        }


def _written(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON holds it; of what is no plain data, such as a training set, its name."""
    plain = (str, int, float, list, tuple, dict, type(None))
    return {name: value if isinstance(value, plain) else str(value) for name, value in parameters.items()}


def _slack(values: Floats) -> float:
    """Rounding must not decide a tie."""
    return float(1e-9 * max(1.0, np.abs(values).max()))
