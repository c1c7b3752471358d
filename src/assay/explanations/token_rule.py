"""TokenRule: a few words that are enough for the prediction, however the others change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.explanations.brief import shortened
from assay.explanations.text_explanation import TextExplanation


@dataclass(frozen=True, eq=False)
class TokenRule(TextExplanation):
    """While the words of the anchor stay, the model says the target with this precision.

    `interval` bounds the precision, which rests on `samples` versions of the text; `coverage` is the share of texts
    in which the rule applies, None where nobody measured it.
    """

    kind: ClassVar[str] = "TokenRule"

    anchor: tuple[int, ...] = ()
    precision: float = 0.0
    interval: tuple[float, float] = (0.0, 1.0)
    coverage: float | None = None
    samples: int = 0

    def __post_init__(self) -> None:
        if list(self.anchor) != sorted(set(self.anchor) & set(range(len(self.text)))):
            raise ValueError(f"an anchor is word positions of the text in order, not {self.anchor!r:.200}")
        low, high = self.interval
        if not 0 <= low <= self.precision <= high <= 1 or not 0 <= (self.coverage or 0) <= 1:
            raise ValueError(f"no precision within bounds: {self.precision} in {self.interval}, covers {self.coverage}")

    @property
    def anchor_words(self) -> tuple[str, ...]:
        """The words of the rule."""
        return tuple(self.words[i] for i in self.anchor)

    def _in_short(self) -> Iterator[str]:
        words = ", ".join(shortened(word, 30) for word in self.anchor_words) or "no word"
        yield f"{words} with precision {self.precision:.3g} in {self.samples} samples"

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {
            "anchor": list(self.anchor),
            "anchor_words": list(self.anchor_words),
            "precision": self.precision,
            "interval": list(self.interval),
            "coverage": self.coverage,
            "samples": self.samples,
        }

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        low, high = data["interval"]
        own = {name: data[name] for name in ("precision", "coverage", "samples")}
        return own | {"anchor": tuple(data["anchor"]), "interval": (low, high)}
