"""The strip under a verdict: what random explanations score, as dots, and the method among them.

Better is always on the right, whichever way the check counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.statistics.arrays import Floats
from assay.statistics.verdict import LEVEL, Verdict
from assay.views.say import number

_DOTS = 200
LEFT, RIGHT, _MIDDLE, _SPREAD = 14.0, 286.0, 18.0, 9.0
_GOLDEN = 0.6180339887


@dataclass(frozen=True)
class Strip:
    """Places in a drawing of 300 x 44."""

    dots: tuple[tuple[float, float], ...]
    own: float
    interval: tuple[float, float] | None
    centre: float
    worst: str
    best: str
    threshold: float | None = None  # of one text: beyond it a map is better than 95 % of the random ones


def strip(verdict: Verdict) -> Strip:
    dots = random_scores(verdict)
    span = _span(verdict)
    seen = np.array([*dots, verdict.mean, verdict.random, *(span or ())])
    ends = (seen.min(), seen.max()) if verdict.better == "higher" else (seen.max(), seen.min())
    places = [(_place(x, *ends), _height(i)) for i, x in enumerate(dots.tolist())]
    interval = (_place(span[0], *ends), _place(span[1], *ends)) if span else None
    own, centre = _place(verdict.mean, *ends), _place(verdict.random, *ends)
    needed = _needed(verdict)
    threshold = None if needed is None else _place(needed, *ends)
    return Strip(tuple(places), own, interval, centre, number(ends[0]), number(ends[1]), threshold)


def random_scores(verdict: Verdict) -> Floats:
    """For one text its random scores; for many, the means that random explanations of all of them could have got."""
    table = verdict.random_scores
    rng = np.random.default_rng(verdict.seed)
    if len(table) == 1:
        return table[0] if table.shape[1] <= _DOTS else rng.choice(table[0], _DOTS, replace=False)
    rows, draws = np.arange(len(table)), table.shape[1]
    return np.array([table[rows, rng.integers(draws, size=len(table))].mean() for _ in range(_DOTS)])


def _span(verdict: Verdict) -> tuple[float, float] | None:
    """The interval around the method's own point; one text has none, it is placed among its random scores instead."""
    if len(verdict.scores) == 1:
        return None
    low, high = verdict.interval
    return verdict.random + low, verdict.random + high


def _needed(verdict: Verdict) -> float | None:
    """The random score of one text that the method must beat to pass; with few random maps there is none."""
    sign = 1 if verdict.better == "higher" else -1
    draws = verdict.random_scores.shape[1]
    place = int(LEVEL * (draws + 1) + 1e-9)  # so many random maps, the method counted among them, may be as good
    if len(verdict.scores) > 1 or verdict.chance != "beat" or not place:
        return None
    return float(sign * np.sort(sign * verdict.random_scores[0])[-place])


def _place(value: float, left: float, right: float) -> float:
    # What differs by rounding alone stands in the middle: it must not look like far apart.
    share = 0.5 if abs(right - left) <= 1e-9 * max(1.0, abs(left)) else (value - left) / (right - left)
    return round(LEFT + share * (RIGHT - LEFT), 1)


def _height(i: int) -> float:
    """Spread the dots evenly without chance, so that a page is the same each time."""
    return round(_MIDDLE + _SPREAD * (2 * (i * _GOLDEN % 1) - 1), 1)
