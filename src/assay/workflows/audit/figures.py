"""The figures of the page as places in a drawing of 420 x 190: histograms stacked by label, and dots in rows.

They are the paper's Figures 2 (tau), 3 (permutation by the largest weight), 4 (JSD) and 5 (JSD by the largest weight).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from assay.statistics.arrays import Floats
from assay.workflows.audit.audited import AuditedText
from assay.workflows.audit.result import AttentionAudit
from assay.workflows.audit.summary import column

LEFT, RIGHT, TOP, BOTTOM = 74.0, 408.0, 14.0, 150.0
_BINS, _TONES, _DOTS, _GOLDEN = 20, 4, 250, 0.6180339887
OTHERS = "other labels"
_RANGES = {"tau": (-1.0, 1.0), "jsd": (0.0, log(2)), "median_tvd": (0.0, 1.0)}
_TICKS = {"tau": (-1.0, -0.5, 0.0, 0.5, 1.0), "jsd": (0.0, 0.2, 0.4, 0.6), "median_tvd": (0.0, 0.25, 0.5, 0.75, 1.0)}


@dataclass(frozen=True)
class Bar:
    """A part of a column: the texts of one label."""

    x: float
    y: float
    width: float
    height: float
    tone: int


@dataclass(frozen=True)
class Histogram:
    """Columns of texts; `floor` is the outline of what a random attention has."""

    bars: tuple[Bar, ...]
    floor: str
    ticks: tuple[tuple[float, str], ...]
    most: int


@dataclass(frozen=True)
class DotRow:
    """The texts with a largest weight in one range: a dot each, their median, and the middle half of them."""

    name: str
    count: int
    y: float
    dots: tuple[tuple[float, float, int], ...]
    median: float | None
    middle: tuple[float, float] | None


@dataclass(frozen=True)
class DotPlot:
    """Rows of dots, the largest weights on top."""

    rows: tuple[DotRow, ...]
    ticks: tuple[tuple[float, str], ...]


def legend(audit: AttentionAudit) -> list[str]:
    """The labels that have a tone of their own; more than four share the last one."""
    names = [label for label, _ in Counter(one.label for one in audit.texts).most_common()]
    return names if len(names) <= _TONES else [*names[: _TONES - 1], OTHERS]


def tones(audit: AttentionAudit) -> dict[str, int]:
    named = legend(audit)
    return {one.label: named.index(one.label) if one.label in named else len(named) - 1 for one in audit.texts}


def taus(audit: AttentionAudit, name: str, floor: str) -> Histogram:
    """Kendall's tau over texts, and that of random attention."""
    kinds = tones(audit)
    known = [(tau.value, kinds[one.label]) for one in audit.texts if (tau := one.taus[name]) is not None]
    random = np.array([tau.value for one in audit.texts if (tau := one.taus[floor]) is not None])
    return histogram(known, "tau", random)


def jsds(audit: AttentionAudit) -> Histogram:
    kinds = tones(audit)
    return histogram([(one.jsd, kinds[one.label]) for one in audit.texts], "jsd")


def histogram(known: Sequence[tuple[float, int]], scale: str, floor: Floats | None = None) -> Histogram:
    counts = np.array([_counts([v for v, tone in known if tone == t], scale) for t in range(_TONES)])
    outline = _counts(floor, scale) if floor is not None else np.zeros(_BINS, dtype=int)
    most = max(1, int(counts.sum(axis=0).max()), int(outline.max()))
    step = (RIGHT - LEFT) / _BINS
    below = np.vstack([np.zeros((1, _BINS)), counts.cumsum(axis=0)])
    bars = [
        Bar(LEFT + i * step + 1, _up(below[t + 1, i], most), step - 2, _up(0, most) - _up(counts[t, i], most), t)
        for t in range(_TONES)
        for i in range(_BINS)
        if counts[t, i]
    ]
    return Histogram(tuple(bars), _outline(outline, most) if floor is not None else "", _ticks(scale), most)


def _counts(values: Sequence[float] | Floats, scale: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.histogram(np.asarray(values, dtype=np.float64), bins=_BINS, range=_RANGES[scale])[0]


def _up(count: float, most: int) -> float:
    return float(round(BOTTOM - (BOTTOM - TOP) * count / most, 2))


def _outline(counts: np.ndarray[tuple[int], np.dtype[np.int64]], most: int) -> str:
    """The path of a staircase over the columns."""
    step = (RIGHT - LEFT) / _BINS
    stairs = " ".join(f"V{_up(count, most)} H{LEFT + (i + 1) * step:.1f}" for i, count in enumerate(counts.tolist()))
    return f"M{LEFT} {BOTTOM} {stairs} V{BOTTOM}"


def by_peak(audit: AttentionAudit, name: str) -> DotPlot:
    """`median_tvd` or `jsd` of the texts, by their largest weight."""
    kinds, bins = tones(audit), audit.binned()[::-1]
    high = (BOTTOM - TOP) / len(bins)
    rows = [
        _row(f"{low:g}–{top:g}", texts, name, TOP + (i + 0.5) * high, high, kinds)
        for i, ((low, top), texts) in enumerate(bins)
    ]
    return DotPlot(tuple(rows), _ticks(name))


def _row(name: str, texts: Sequence[AuditedText], number: str, y: float, high: float, kinds: dict[str, int]) -> DotRow:
    values = column(texts, number)
    shown = list(zip(values.tolist(), texts, strict=True))[:_DOTS]
    # Spread without chance, so that a page is the same each time.
    dots = [
        (_across(v, number), round(y + 0.36 * high * (2 * (i * _GOLDEN % 1) - 1), 1), kinds[one.label])
        for i, (v, one) in enumerate(shown)
    ]
    if not texts:
        return DotRow(name, 0, y, (), None, None)
    low, median, top = (_across(float(q), number) for q in np.quantile(values, [0.25, 0.5, 0.75]))
    return DotRow(name, len(texts), y, tuple(dots), median, (low, top))


def _across(value: float, scale: str) -> float:
    low, high = _RANGES[scale]
    return round(LEFT + (RIGHT - LEFT) * (value - low) / (high - low), 1)


def _ticks(scale: str) -> tuple[tuple[float, str], ...]:
    return tuple((_across(tick, scale), f"{tick:g}".replace("-", "−")) for tick in _TICKS[scale])
