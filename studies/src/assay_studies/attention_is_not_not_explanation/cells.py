"""Numbers of the tests as cells of a table."""

from __future__ import annotations

from assay.statistics.intervals import Estimate
from assay_studies.tables import Cell


def cell(number: Estimate | None, texts: int, published: float | None = None, digits: int = 3) -> Cell:
    ours = None if number is None else Estimate(number.value, number.low, number.high, texts)
    return Cell(ours, "" if published is None else f"{published:.{digits}f}")


def decided(number: Estimate) -> bool | None:
    """Above zero, below it, or neither for sure."""
    return {1: True, -1: False}.get(number.sign)
