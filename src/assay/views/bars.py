"""The prediction as bars: the explained label first seen, the others beside or below it."""

from __future__ import annotations

from dataclasses import dataclass

from assay.explanations.text_explanation import TextExplanation

_MOST = 12


@dataclass(frozen=True)
class Bar:
    """One label."""

    label: str
    chance: float
    explained: bool


def bars(e: TextExplanation, most: int = _MOST) -> tuple[list[Bar], int]:
    """Labels from the likeliest down, the explained one always among them; and how many were left out."""
    ordered = sorted(e.prediction.items(), key=lambda item: -item[1])
    kept = [pair for i, pair in enumerate(ordered) if i < most or pair[0] == e.label]
    return [Bar(name, chance, name == e.label) for name, chance in kept], len(ordered) - len(kept)


def is_split(e: TextExplanation) -> bool:
    """Two labels that share one bar; several that may all hold cannot."""
    return len(e.prediction) == 2 and abs(sum(e.prediction.values()) - 1) < 0.01
