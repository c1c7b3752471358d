"""What a paper claims, and whether it is so here.

A claim that one thing is larger than another holds if the 95 % interval of the paired difference keeps to that side
of zero, does not hold if it keeps to the other, and is open if the interval holds zero or there are fewer than 20
texts: open is not wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self, TypeAlias

from assay.statistics.intervals import Estimate

Rule: TypeAlias = Callable[[Estimate | None], bool | None]

_WORDS = {True: "holds", False: "does not hold", None: "open"}


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, whether it holds here (None: open), and the numbers that say so."""

    text: str
    holds: bool | None
    evidence: str

    @property
    def verdict(self) -> str:
        return _WORDS[self.holds]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(**data)


@dataclass(frozen=True)
class Evidence:
    """A number that is shown for a claim, and the rule by which it decides; without a rule it is only shown."""

    name: str
    estimate: Estimate | None
    rule: Rule | None = None


def claim(text: str, *evidence: Evidence, digits: int = 3) -> Claim:
    """A claim that holds if every rule says so, with its numbers in words."""
    decided = all_of(one.rule(one.estimate) for one in evidence if one.rule is not None)
    return Claim(text, decided, in_words({one.name: one.estimate for one in evidence}, digits))


def all_of(parts: Iterable[bool | None]) -> bool | None:
    """Holds if all hold; does not if one does not; else open."""
    seen = list(parts)
    if False in seen:
        return False
    return None if None in seen or not seen else True


def in_words(estimates: Mapping[str, Estimate | None], digits: int = 3) -> str:
    return "; ".join(f"{name}: {'not measured' if e is None else e.shown(digits)}" for name, e in estimates.items())


def lower(difference: Estimate | None) -> bool | None:
    """The first is lower than the second."""
    return None if difference is None else difference.below


def higher(difference: Estimate | None) -> bool | None:
    """The first is higher than the second."""
    return None if difference is None else difference.above


def not_better(gain: Estimate | None) -> bool | None:
    """ "There is no evidence that it is better": holds unless the gain is surely above zero."""
    return None if gain is None or gain.few else gain.above is not True


def above(least: float) -> Rule:
    """The number is higher than this."""

    def rule(found: Estimate | None) -> bool | None:
        if found is None:
            return None
        return higher(Estimate(found.value - least, found.low - least, found.high - least, found.n))

    return rule


def below(most: float) -> Rule:
    """The number is lower than this."""

    def rule(found: Estimate | None) -> bool | None:
        if found is None:
            return None
        return lower(Estimate(found.value - most, found.low - most, found.high - most, found.n))

    return rule


def within(tolerance: float) -> Rule:
    """Surely no farther from zero than this, surely farther, or open."""

    def rule(gap: Estimate | None) -> bool | None:
        if gap is None or gap.few:
            return None
        if gap.low > -tolerance and gap.high < tolerance:
            return True
        return False if gap.low > tolerance or gap.high < -tolerance else None

    return rule


def falls_less_than(limit: float) -> Rule:
    """Surely no fall of so much, surely one, or open; a rise is no fall."""

    def rule(change: Estimate | None) -> bool | None:
        if change is None or change.few:
            return None
        return True if change.low > -limit else False if change.high < -limit else None

    return rule
