"""A table as curves: one panel for each pair of columns (across, up), the lines of the table as points in their order.

Ours is a full line with 95 % intervals, the published one a broken line with rings. Lines that the table names among
its `marks` stand by themselves. Points are called by their labels as far as there is room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any, NamedTuple

from assay_studies.estimates import Estimate
from assay_studies.tables import Cell, Table

OURS, PAPER = "#2070d0", "#e87a14"
_MARKS = (("^", "#3a9a52"), ("s", "#8a4fbf"), ("P", "#c23b3b"))
_WIDE, _HIGH = 0.1, 0.05  # what a label takes, as a share of the panel


class _Point(NamedTuple):
    """A line of the table in one panel: its label, and what was measured or published across and up."""

    label: str
    across: Cell
    up: Cell


class _Name(NamedTuple):
    """A label and the point that it belongs to."""

    label: str
    x: float
    y: float
    colour: str


def panels(table: Table) -> list[tuple[int, str]]:
    """The first column of each panel, and what the panel is called: what stands in its columns behind the comma."""
    starts = range(0, len(table.columns) - 1, 2)
    return [(i, table.columns[i].partition(", ")[2]) for i in starts]


def draw(panel: Any, table: Table, first: int, title: str) -> None:
    """The curves of the columns `first` (across) and the next one (up)."""
    points = _points(table, first)
    _line(panel, [p for p in points if p.label not in table.marks])
    for point, (shape, colour) in zip((p for p in points if p.label in table.marks), cycle(_MARKS)):
        if point.across.ours and point.up.ours:
            _crosses(panel, [point.across.ours], [point.up.ours], colour)
            where = ([point.across.ours.value], [point.up.ours.value])
            panel.plot(*where, shape, color=colour, ms=8, mec="white", label=point.label, zorder=4)
    panel.set_title(title, fontsize=9, loc="left")
    panel.set_xlabel(table.columns[first].partition(", ")[0], fontsize=9)
    panel.set_ylabel(table.columns[first + 1].partition(", ")[0], fontsize=9)
    panel.margins(0.12)  # room for the last label
    panel.tick_params(labelsize=8)
    panel.grid(alpha=0.3)
    panel.set_axisbelow(True)


def name(panel: Any, table: Table, first: int) -> None:
    """Axes from zero on, and the labels of the points; once all panels that share an axis are drawn."""
    panel.set_ylim(bottom=0)
    panel.set_xlim(left=0)
    ours, printed = _known([p for p in _points(table, first) if p.label not in table.marks])
    named = [_Name(label, x.value, y.value, OURS) for label, x, y in ours]
    _name(panel, [*named, *(_Name(*one, PAPER) for one in printed)])


def _points(table: Table, first: int) -> list[_Point]:
    return [_Point(line.label, *line.cells[first : first + 2]) for line in table.lines]


def _known(points: Sequence[_Point]) -> tuple[list[tuple[str, Estimate, Estimate]], list[tuple[str, float, float]]]:
    """What was measured and what was printed, where both numbers of a point are there."""
    ours = [(p.label, p.across.ours, p.up.ours) for p in points if p.across.ours and p.up.ours]
    paper = [(p.label, p.across.published_value, p.up.published_value) for p in points]
    return ours, [(label, x, y) for label, x, y in paper if x is not None and y is not None]


def _line(panel: Any, points: Sequence[_Point]) -> None:
    ours, printed = _known(points)
    if printed:
        places = ([x for _, x, _ in printed], [y for _, _, y in printed])
        panel.plot(*places, "o--", color=PAPER, mfc="white", ms=5, lw=1, label="published", zorder=2)
    if ours:
        _crosses(panel, [x for _, x, _ in ours], [y for _, _, y in ours], OURS)
        places = ([x.value for _, x, _ in ours], [y.value for _, _, y in ours])
        panel.plot(*places, "o-", color=OURS, ms=5, lw=1.5, label="here (95 % intervals)", zorder=3)


def _name(panel: Any, names: Sequence[_Name]) -> None:
    """Our labels above their points, the published ones below."""
    from matplotlib.patheffects import withStroke  # as in figures: slow to import, and an extra

    halo = [withStroke(linewidth=1.5, foreground="white")]  # a label may stand on a line
    for one in _with_room(panel, names):
        shift = (5, 5 if one.colour == OURS else -11)
        told = {"textcoords": "offset points", "fontsize": 7, "color": one.colour, "zorder": 5, "path_effects": halo}
        panel.annotate(one.label, (one.x, one.y), shift, **told)


def _crosses(panel: Any, across: Sequence[Estimate], up: Sequence[Estimate], colour: str) -> None:
    """Intervals both ways, pale, so that the curve is seen first."""
    sides = [[[e.value - e.low for e in es], [e.high - e.value for e in es]] for es in (across, up)]
    wide, high = ([[max(0.0, v) for v in side] for side in both] for both in sides)
    places = ([e.value for e in across], [e.value for e in up])
    panel.errorbar(*places, xerr=wide, yerr=high, fmt="none", ecolor=colour, alpha=0.35, elinewidth=1, zorder=1)


def _with_room(panel: Any, names: Sequence[_Name]) -> Iterator[_Name]:
    """Those that do not stand on another one; of our curve the first and the last in any case."""
    (left, right), (low, top) = panel.get_xlim(), panel.get_ylim()
    own = [one for one in names if one.colour == OURS]
    taken: list[tuple[float, float]] = []
    for one in dict.fromkeys([*own[:1], *own[-1:], *names]):
        x, y = (one.x - left) / (right - left), (one.y - low) / (top - low)
        if all(abs(x - a) > _WIDE or abs(y - b) > _HIGH for a, b in taken):
            taken.append((x, y))
            yield one
