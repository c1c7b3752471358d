"""Numbers of the tests as estimates of a table, and what they decide."""

from __future__ import annotations

from assay.statistics.intervals import Estimate


def interval(number: Estimate | None, texts: int) -> Estimate | None:
    return None if number is None else Estimate(number.value, number.low, number.high, texts)


def decided(number: Estimate) -> bool | None:
    """Above zero, below it, or neither for sure."""
    return {1: True, -1: False}.get(number.sign)
