"""How alike two maps order the same words.

    spearman    the correlation of the ranks, equal scores sharing their mean rank
    kendall     tau-b: (pairs in the same order - pairs in opposite order) / sqrt(untied pairs of a * those of b)
    overlap     the share of the first k words that are among the first k of both

Spearman (1904), doi:10.2307/1412159; Kendall (1945), doi:10.2307/2332303. Scores closer than a hundred-thousandth of
the largest count as equal: rounding inside a model must not order words. A map whose scores are all equal has no order
and the coefficients are not defined; here two such maps agree (1), and one such map has nothing to do with another (0).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.statistics.arrays import Floats

_DECIMALS = 5
_SMALLEST = 1e-300


class Tau(NamedTuple):
    """Kendall's tau-b, and the chance of one as far from zero for two unrelated orders (1 where there is none)."""

    value: float
    p_value: float


def spearman(a: Floats, b: Floats) -> float:
    a, b = _steady(a), _steady(b)
    if (flat := _flat(a, b)) is not None:
        return flat
    a, b = _ranks(a), _ranks(b)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def kendall(a: Floats, b: Floats) -> Tau:
    a, b = _steady(a), _steady(b)
    if (flat := _flat(a, b)) is not None:
        return Tau(flat, 1.0)
    from scipy.stats import kendalltau  # slow to import, and only wanted here

    found = kendalltau(a, b)
    return Tau(float(found.statistic), float(found.pvalue))


def ordered(scores: Floats) -> bool:
    """Whether the scores put any two words into an order."""
    return bool(np.ptp(_steady(scores)) > 0) if len(scores) else False


def overlap(a: Floats, b: Floats, k: int) -> float:
    """Among equal scores the earlier word comes first."""
    k = min(k, len(a))
    first, second = (np.argsort(-_steady(scores), kind="stable")[:k] for scores in (a, b))
    return len(set(first.tolist()) & set(second.tolist())) / k


def _ranks(scores: Floats) -> Floats:
    """Mean ranks, counted from their middle; scipy's cost ten times as much for the few words of a text."""
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count + len(scores)) / 2)[place])


def _steady(scores: Floats) -> Floats:
    """Scores relative to the largest, without the digits that rounding may have made."""
    size = np.abs(scores).max(initial=0.0)
    return np.round(scores / size, _DECIMALS) if size > _SMALLEST else np.zeros_like(scores)


def _flat(a: Floats, b: Floats) -> float | None:
    """The agreed value where one map, or both, have no order; None where both have one."""
    no_order = [bool((scores == scores[:1]).all()) for scores in (a, b)]
    return None if not any(no_order) else float(all(no_order))
