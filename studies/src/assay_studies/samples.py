"""Some of many rows, evenly spread over all of them: the first rows of a sorted file are not like the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def spread(rows: Sequence[T], count: int) -> list[T]:
    """So many rows, the first and the last among them; all of them where there are no more."""
    if count >= len(rows):
        return list(rows)
    return [rows[i] for i in np.linspace(0, len(rows) - 1, count).round().astype(int)]


def spread_or_all(rows: Sequence[T], count: int) -> tuple[T, ...]:
    """The same, where 0 stands for all rows."""
    return tuple(spread(rows, count)) if count else tuple(rows)
