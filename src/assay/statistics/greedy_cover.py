"""A few rows that together cover most: each time the one that adds most to what is covered already.

    argmax over V, |V| <= picks, of   sum_j importance_j 1[some row of V has j]

Greedy reaches at least 1 - 1/e of the best there is (Nemhauser, Wolsey and Fisher 1978).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.statistics.arrays import Floats

_ROUNDING = 1e-12  # sums that differ by less are equal, or rounding would decide between equally good texts


def greedy_picks(rows: Sequence[Sequence[int]], importance: Floats, picks: int) -> list[int]:
    """Rows in the order in which they are picked, each time one that adds most; among equals the first."""
    lengths = [len(row) for row in rows]
    owners = np.repeat(np.arange(len(rows)), lengths)
    items = np.fromiter((item for row in rows for item in row), dtype=np.intp, count=sum(lengths))
    left = importance.astype(np.float64)  # what an item would add: nothing once it is covered
    free = np.ones(len(rows), dtype=bool)
    chosen: list[int] = []
    for _ in range(min(picks, len(rows))):
        gains = np.where(free, np.bincount(owners, weights=left[items], minlength=len(rows)), -1.0)
        best = int(np.flatnonzero(gains >= gains.max() - _ROUNDING * importance.sum())[0])
        chosen.append(best)
        free[best] = False
        left[items[owners == best]] = 0.0
    return chosen
