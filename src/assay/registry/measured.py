"""What a check finds for one text: its score, and what else there is to know about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite


@dataclass(frozen=True)
class Measured:
    """A score; `facts` are numbers of which the verdict gives the means, `warnings` hold for this text.

    The verdict counts the texts that share a warning, so a warning is written without a number of texts.
    """

    score: float
    facts: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    left_out: str | None = None  # why the text cannot be measured, where that was found out by asking the model

    @classmethod
    def of(cls, result: float | Measured) -> Measured:
        return result if isinstance(result, Measured) else cls(result)

    @property
    def finite(self) -> bool:
        """Whether no number is NaN or infinite."""
        return isfinite(self.score) and all(map(isfinite, self.facts.values()))
