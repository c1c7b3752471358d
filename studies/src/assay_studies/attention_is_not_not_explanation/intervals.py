"""Numbers of the tests as estimates of a table."""

from __future__ import annotations

from assay.statistics.intervals import Estimate


def interval(number: Estimate | None, texts: int) -> Estimate | None:
    return None if number is None else Estimate(number.value, number.low, number.high, texts)
