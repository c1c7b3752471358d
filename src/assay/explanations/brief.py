"""A few words of a long string, and a number in a few signs: what `repr` of a result is made of."""

from __future__ import annotations

_LONGEST = 60


def shortened(string: str, longest: int = _LONGEST) -> str:
    """The beginning, quoted as Python quotes strings, so that nothing in it steers a terminal."""
    flat = " ".join(string.split())
    return repr(flat if len(flat) <= longest else flat[: longest - 1] + "…")


def signed(value: float) -> str:
    return f"{value:+.3g}"


def probability(value: float) -> str:
    """Never 1.00 or 0.00 for what is only close to it."""
    shown = f"{value:.2f}"
    return {"1.00": ">0.99", "0.00": "<0.01"}.get(shown, shown) if 0 < value < 1 else shown
