"""How many of n words, texts or other things a share of them makes, rounded up."""

from __future__ import annotations

from math import ceil

_ROUNDING = 1e-9  # the last bit of a product such as 0.07 * 100 must not make one more


def share_of(n: int, share: float) -> int:
    """The product, rounded up: 7 of 100 at 0.07, although that product of floats is a little more than 7."""
    return ceil(share * n - _ROUNDING)
