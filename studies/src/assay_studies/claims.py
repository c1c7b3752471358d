"""What a paper claims, and whether it is so here; `rules` says when it is.

    claim("SST: tau is below 0.5", Evidence("tau", tau, below(0.5)), key="modest", about="SST")

A claim of a run is about one dataset, or one model; on the page of the study those with the same `key` stand together
as one sentence of the paper, and are corrected together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from assay.statistics.intervals import Estimate
from assay_studies.rules import FAILS, HOLDS, Comparison, Learned, Reach, Rule, Word, together, words

_BOOLS: dict[Word, bool] = {HOLDS: True, FAILS: False}


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, whether it holds here (None: open), and the numbers that say so."""

    text: str
    holds: bool | None
    evidence: str
    key: str = ""
    comparisons: tuple[Comparison, ...] = ()

    @property
    def verdict(self) -> Word:
        if self.comparisons and not any(one.learned for one in self.comparisons):
            return "not learned"
        return "open" if self.holds is None else HOLDS if self.holds else FAILS

    def of_model(self, learned: Learned | None) -> Claim:
        """With how good the model is, where a comparison does not say it: one that did not learn decides nothing."""
        if learned is None:
            return self
        told = (one if one.performance else replace(one, **learned._asdict()) for one in self.comparisons)
        return replace(self, comparisons=tuple(told))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(**{**data, "comparisons": tuple(map(_comparison, data.get("comparisons", ())))})


@dataclass(frozen=True)
class Evidence:
    """A number that is shown for a claim, and the rule by which it decides; without a rule it is only shown.

    The rest is as in `Comparison`.
    """

    name: str
    estimate: Estimate | None
    rule: Rule | None = None
    published: str = ""
    over: str = "texts"
    performance: Estimate | None = None
    commonest: float | None = None
    aside: str = ""
    freedom: float | None = None

    def of(self, about: str) -> Comparison:
        return Comparison(about=about, **vars(self))

    def shown(self, digits: int) -> str:
        number = "not measured" if self.estimate is None else self.estimate.shown(digits)
        return f"{self.name}: {number}{f' ({self.aside})' if self.aside else ''}"


def claim(
    text: str, *evidence: Evidence, digits: int = 3, key: str = "", about: str = "", reach: Reach = "all"
) -> Claim:
    """A claim that holds if every rule says so (or one, by `reach`), with its numbers in words."""
    comparisons = tuple(one.of(about) for one in evidence)
    said = [word for one, word in zip(comparisons, words(comparisons), strict=True) if one.decides]
    return Claim(
        text, _BOOLS.get(together(said, reach)), "; ".join(one.shown(digits) for one in evidence), key, comparisons
    )


def in_words(estimates: Mapping[str, Estimate | None], digits: int = 3) -> str:
    return "; ".join(Evidence(name, found).shown(digits) for name, found in estimates.items())


higher = Rule("above")  # the first is higher than the second: a paired difference above zero
lower = Rule("below")
not_better = lower  # "there is no evidence that it is better": open where the interval holds zero


def above(least: float) -> Rule:
    """The number is higher than this."""
    return Rule("above", least)


def below(most: float) -> Rule:
    """The number is lower than this."""
    return Rule("below", most)


def within(tolerance: float) -> Rule:
    """No farther from zero than this."""
    return Rule("within", tolerance)


def falls_less_than(limit: float) -> Rule:
    """No fall of so much; a rise is no fall."""
    return Rule("above", -limit)


def _comparison(data: Mapping[str, Any]) -> Comparison:
    estimates = {name: data[name] and Estimate(**data[name]) for name in ("estimate", "performance")}
    return Comparison(**{**data, **estimates, "rule": data["rule"] and Rule(**data["rule"])})
