"""Coalitions of words: all of them, some of them, and the Shapley values of a game whose every value is known.

A coalition is a row of a mask: true for the words that are there. A game v gives each coalition a number.

    phi_i = sum over S with i     of v(S) / (s C(n, s))
          - sum over S without i  of v(S) / ((n - s) C(n, s))                        s = |S|, C(n, s) = n over s

is the mean of v(S + i) - v(S) over all orders in which the words may come: Shapley (1953), A Value for n-Person Games.

Of pairs (S, all but S) we draw some without replacement. Each size has its fixed share, in proportion to
(s (n - s))^-1/2: half way between the Shapley kernel of Lundberg and Lee (2017), arXiv:1705.07874, whose exponent is
-1, and the leverage scores of Musco and Witter (2024), arXiv:2410.01917, where all sizes are alike. A size that has
fewer coalitions than its share is taken whole, and the rest goes to the others.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from assay.statistics.arrays import Floats
from assay.text.text import Masks

_EXPONENT = -0.5  # of all between -1 and 0.5 that were tried, none was clearly better on models and on made-up games


def every(n: int) -> Masks:
    """All coalitions of n words, the empty one first and the whole text last."""
    return ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(bool)


def shapley(values: Floats) -> Floats:
    """The Shapley values of a game, from its values in the order of `every`."""
    n = (len(values) - 1).bit_length()
    keep, many = every(n), np.array([comb(n, s) for s in range(n + 1)], dtype=np.float64)
    size = keep.sum(axis=1)
    inside = values / (np.maximum(size, 1) * many[size])
    outside = values / (np.maximum(n - size, 1) * many[size])
    return np.asarray(inside @ keep - outside @ ~keep)


def draw(n: int, pairs: int, generator: np.random.Generator) -> tuple[Masks, Floats]:
    """One coalition of each pair, and how much of the Shapley kernel it stands for."""
    sizes = np.arange(1, n // 2 + 1)
    alike = np.where(2 * sizes == n, 0.5, 1.0)  # in the middle both halves of a pair have the same size
    quota = _shares(pairs, alike * (sizes * (n - sizes)) ** _EXPONENT, [_many(n, s) for s in sizes.tolist()])
    counts = _whole_numbers(quota, pairs, generator)
    kernel = alike / (sizes * (n - sizes)) / np.where(quota < 1, quota, np.maximum(counts, 1))
    wanted = [(s, count) for s, count in zip(sizes.tolist(), counts.tolist(), strict=True) if count]
    drawn = [_subsets(n, s, count, generator) for s, count in wanted]
    return np.concatenate(drawn), np.repeat(kernel, counts)


def _many(n: int, size: int) -> int:
    """How many pairs there are with a coalition of this size."""
    return comb(n, size) // (2 if 2 * size == n else 1)


def _shares(pairs: int, weights: Floats, most: list[int]) -> Floats:
    """So many of each size: in proportion to the weights, but nowhere more than there are."""
    limits = np.array([float(min(limit, pairs)) for limit in most])
    full = np.zeros(len(most), dtype=bool)
    while not full.all():
        share = weights * (pairs - limits[full].sum()) / weights[~full].sum()
        over = ~full & (share >= limits)
        if not over.any():
            return np.where(full, limits, share)
        full |= over
    return limits


def _whole_numbers(quota: Floats, pairs: int, generator: np.random.Generator) -> np.ndarray:
    """Whole numbers that are the quotas on average, and sum to the pairs."""
    reached = np.concatenate([[0.0], quota.cumsum()])
    reached[-1] = pairs
    return np.diff(np.floor(reached + generator.random() + 1e-9)).astype(np.int64)


def _subsets(n: int, size: int, count: int, generator: np.random.Generator) -> Masks:
    """Different coalitions of one size; of two that make a pair, never both."""
    if _many(n, size) <= 4 * count:
        some = list(combinations(range(n), size))[: _many(n, size)]  # of the middle size, the half that has word 0
        chosen = np.array(some)[generator.permutation(len(some))[:count]]
        return _masks(n, chosen)
    found: dict[bytes, Masks] = {}
    while len(found) < count:
        rows = _masks(n, generator.random((2 * count, n)).argpartition(size - 1, axis=1)[:, :size])
        if 2 * size == n:
            rows ^= ~rows[:, :1]
        found |= {row.tobytes(): row for row in rows}
    return np.array(list(found.values())[:count])


def _masks(n: int, members: np.ndarray) -> Masks:
    keep = np.zeros((len(members), n), dtype=bool)
    np.put_along_axis(keep, members, True, axis=1)
    return keep
