"""What a paper claims, and whether it is so here.

A claim that one thing is larger than another holds if the 95 % interval of the paired difference keeps to that side
of zero, does not hold if it keeps to the other, and is open if the interval holds zero or there are fewer than 20
texts: open is not wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from assay_studies.estimates import Estimate

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


def all_of(parts: Iterable[bool | None]) -> bool | None:
    """Holds if all hold; does not if one does not; else open."""
    seen = list(parts)
    if False in seen:
        return False
    return None if None in seen or not seen else True


def not_better(gain: Estimate | None) -> bool | None:
    """ "There is no evidence that it is better": holds unless the gain is surely above zero."""
    return None if gain is None or gain.few else gain.above is not True


def lower(difference: Estimate | None) -> bool | None:
    """The first is lower than the second."""
    return None if difference is None else difference.below


def higher(difference: Estimate | None) -> bool | None:
    """The first is higher than the second."""
    return None if difference is None else difference.above


def told(differences: Mapping[str, Estimate | None], digits: int = 3) -> str:
    """Differences in words."""
    return "; ".join(f"{name}: {'not measured' if d is None else d.shown(digits)}" for name, d in differences.items())
