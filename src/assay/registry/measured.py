"""What a check may say of one text besides its score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Measured:
    """What a check may say of one text besides its score: numbers under names, of which the verdict gives the means."""

    score: float
    facts: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, told: float | Measured) -> Measured:
        return told if isinstance(told, Measured) else cls(told)


def mean_facts(told: Sequence[Measured]) -> dict[str, float]:
    """The mean of every fact over the texts that have it."""
    names = dict.fromkeys(name for one in told for name in one.facts)
    return {name: float(np.mean([one.facts[name] for one in told if name in one.facts])) for name in names}
