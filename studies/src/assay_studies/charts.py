"""The figure of a table: all drawing of the studies.

dots      one panel for each line: our numbers with their 95 % intervals, the published ones as open rings
columns   one panel for each column, all lines on its axis
heat      the same table where it has more lines than panels can be looked at: a field for each number, the darker the
          larger, published numbers in brackets; lines whose labels begin alike (up to the first comma) stand together
bars      distributions: the columns are bins, the lines stand side by side
curves    one panel for each pair of columns (across, up), the lines as points in their order: ours a full line, the
          published one a broken line with rings; lines that are among the table's `marks` stand by themselves

Needs matplotlib (pip install assay[plot]), which is slow to import and imported only here; without it there are no
figures.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import cycle, pairwise, zip_longest
from math import ceil
from typing import Any, Literal, NamedTuple

import numpy as np

from assay.statistics.intervals import Estimate
from assay_studies.dot_columns import OURS, PAPER, draw_columns, measured_columns, size
from assay_studies.tables import Cell, Line, Table
from assay_studies.titles import TITLE_LINE, label_lines, titled

MISSING = "There are no figures: matplotlib is not installed (pip install assay[plot])."
_WIDE, _PANEL, _ROUND, _HEAD, _TALL = 5.4, 0.22, 0.7, 0.4, 3.2
_LABELS, _MANY = 2.2, 20
_MARKS = (("^", "#3a9a52"), ("s", "#8a4fbf"), ("P", "#c23b3b"))
_LABEL_WIDE, _LABEL_HIGH = 0.1, 0.05  # what a label takes, as a share of the panel
_LINE, _FIELD, _LETTER = 0.2, 1.05, 0.075  # of a heat map, in inches: a line, a field, a letter
_DARK = 0.6  # of the largest number: above it letters are white
_LETTERS: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7}


def can_draw() -> bool:
    return find_spec("matplotlib") is not None


def figure(table: Table, form: Literal["png", "svg"] = "png") -> bytes | None:
    """The table as a picture; None where nothing in it was measured, or a picture would say nothing."""
    lines = _drawn(table)
    if not lines or table.drawn == "not":
        return None
    from matplotlib import rc_context

    ways = {"dots": _dots, "columns": _columns, "bars": _bars, "curves": _curves}
    many = table.drawn == "dots" and len(lines) > _MANY
    drawing = _heat(table, lines) if many else ways[table.drawn](table, lines)
    out = io.BytesIO()
    with rc_context({"svg.hashsalt": table.name}):  # without it the same figure has other ids every time
        drawing.savefig(out, format=form, metadata={"Software": None} if form == "png" else {"Date": None})
    return out.getvalue()


def _drawn(table: Table) -> list[Line]:
    """The lines that were measured; where some have published numbers, these alone."""
    measured = [line for line in table.lines if any(cell.ours for cell in line.cells)]
    return [line for line in measured if any(cell.published for cell in line.cells)] or measured


def _empty(width: float, height: float) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(width, height), layout="constrained", dpi=110)
    FigureCanvasAgg(drawing)
    return drawing


def _published(lines: Sequence[Line]) -> bool:
    return any(cell.published_value is not None for line in lines for cell in line.cells)


def _sides(estimates: Sequence[Estimate]) -> list[list[float]]:
    """How far intervals reach below and above their values."""
    below, above = [e.value - e.low for e in estimates], [e.high - e.value for e in estimates]
    return [[max(0.0, v) for v in side] for side in (below, above)]


# --- dots -------------------------------------------------------------------------------------------------------------


def _dots(table: Table, lines: list[Line]) -> Any:
    across = min(2, len(lines))
    down = ceil(len(lines) / across)
    shown = max(sum(bool(cell.ours or cell.published) for cell in line.cells) for line in lines)
    extra = max(len(label_lines(line.label)) for line in lines) - 1
    drawing = _empty(_WIDE * across, _HEAD + down * (_ROUND + _PANEL * shown + TITLE_LINE * extra))
    panels = drawing.subplots(down, across, squeeze=False).flat
    for panel, line in zip_longest(panels, lines):
        _dots_of(panel, table, line) if line else panel.set_axis_off()
    beside = " and published (ring)" if _published(lines) else ""
    titled(drawing, f"{table.heading}: here (dot, 95 % interval){beside}")
    return drawing


def _columns(table: Table, lines: list[Line]) -> Any:
    across = len(measured_columns(table, lines))
    drawing = _empty(*size(across, len(lines)))
    draw_columns(drawing.subplots(1, across, squeeze=False, sharex=True, sharey=True)[0], table, lines, _sides)
    beside = " and published (ring)" if _published(lines) else ""
    titled(drawing, f"{table.heading}: here (dot, 95 % interval){beside}")
    return drawing


def _dots_of(panel: Any, table: Table, line: Line) -> None:
    cells = [(name, cell) for name, cell in zip(table.columns, line.cells, strict=True) if cell.ours or cell.published]
    for height, (_, cell) in enumerate(cells):
        if cell.ours is not None:
            sides = _sides([cell.ours])
            panel.errorbar([cell.ours.value], [height], xerr=sides, fmt="o", color=OURS, capsize=3, ms=5)
        if cell.published_value is not None:
            panel.plot([cell.published_value], [height], "o", mfc="none", mec=PAPER, ms=8)
    panel.set_yticks(range(len(cells)), [name for name, _ in cells], fontsize=8)
    panel.set_ylim(len(cells) - 0.5, -0.5)
    panel.set_title("\n".join(label_lines(line.label)), fontsize=9, loc="left")
    panel.tick_params(axis="x", labelsize=8)
    panel.grid(axis="x", alpha=0.3)


# --- heat maps --------------------------------------------------------------------------------------------------------


def _heat(table: Table, lines: list[Line]) -> Any:
    drawing = _empty(_LABELS + heat_width(table), 2 * _HEAD + _LINE * len(lines))
    draw_heat(drawing.subplots(), table, lines)
    titled(drawing, f"{table.heading}{' (published in brackets)' if _published(lines) else ''}")
    return drawing


def heat_width(table: Table) -> float:
    """The width of all fields, in inches: room for the names of the columns."""
    return len(table.columns) * max(_FIELD, *(_LETTER * len(name) for name in table.columns))


def draw_heat(panel: Any, table: Table, lines: Sequence[Line]) -> None:
    values = np.array([[np.nan if c.ours is None else c.ours.value for c in line.cells] for line in lines])
    low, high = min(0.0, float(np.nanmin(values))), float(np.nanmax(values))
    panel.imshow(values, cmap="Blues", vmin=low, vmax=high or 1.0, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        colour = "white" if value - low > _DARK * (high - low) else "black"
        panel.text(column, row, _field(lines[row].cells[column], table.digits), **_LETTERS, color=colour)
    for row, (one, other) in enumerate(pairwise(line.label.split(",")[0] for line in lines)):
        if one != other:
            panel.axhline(row + 0.5, color="white", lw=4)
    panel.set_xticks(range(len(table.columns)), table.columns, fontsize=8)
    panel.set_yticks(range(len(lines)), [line.label for line in lines], fontsize=8)
    panel.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    for side in panel.spines.values():
        side.set_visible(False)


def _field(cell: Cell, digits: int) -> str:
    ours = "" if cell.ours is None else f"{cell.ours.value:.{digits}f}"
    return f"{ours} ({cell.published_value:.{digits}f})" if cell.published_value is not None else ours


# --- bars -------------------------------------------------------------------------------------------------------------


def _bars(table: Table, lines: list[Line]) -> Any:
    """One group of bars for each column, in it one bar for each line."""
    drawing = _empty(1.4 * _WIDE, _TALL)
    panel, width = drawing.subplots(), 0.8 / len(lines)
    for i, (line, colour) in enumerate(zip(lines, cycle((OURS, PAPER)))):
        at = [place + (i - (len(lines) - 1) / 2) * width for place in range(len(line.cells))]
        found = [cell.ours or Estimate(0.0, 0.0, 0.0, 0) for cell in line.cells]
        heights = [e.value for e in found]
        panel.bar(at, heights, width, yerr=_sides(found), color=colour, label=line.label, capsize=2)
    panel.set_xticks(range(len(table.columns)), table.columns, fontsize=8)
    panel.tick_params(axis="y", labelsize=8)
    panel.grid(axis="y", alpha=0.3)
    panel.set_axisbelow(True)
    panel.legend(fontsize=8)
    titled(drawing, f"{table.heading} (95 % intervals)")
    return drawing


# --- curves -----------------------------------------------------------------------------------------------------------


class _Point(NamedTuple):
    """A line of the table in one panel: its label, and what was measured or published across and up."""

    label: str
    across: Cell
    up: Cell


class _Label(NamedTuple):
    """A label and the point that it belongs to."""

    label: str
    x: float
    y: float
    colour: str


def _curves(table: Table, lines: list[Line]) -> Any:
    shown = curve_panels(table)
    drawing = _empty(1.1 * _WIDE * len(shown), 1.2 * _TALL)
    panels = list(drawing.subplots(1, len(shown), squeeze=False, sharey=True).flat)
    for panel, (first, title) in zip(panels, shown, strict=True):
        draw_curve(panel, table, first, title)
    for panel, (first, _) in zip(panels, shown, strict=True):
        label_points(panel, table, first)
    panels[0].legend(fontsize=8)
    titled(drawing, table.heading)
    return drawing


def curve_panels(table: Table) -> list[tuple[int, str]]:
    """The first column of each panel, and what the panel is called: what stands in its columns behind the comma."""
    starts = range(0, len(table.columns) - 1, 2)
    return [(i, table.columns[i].partition(", ")[2]) for i in starts]


def draw_curve(panel: Any, table: Table, first: int, title: str) -> None:
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


def _crosses(panel: Any, across: Sequence[Estimate], up: Sequence[Estimate], colour: str) -> None:
    """Intervals both ways, pale, so that the curve is seen first."""
    places = ([e.value for e in across], [e.value for e in up])
    sides = {"xerr": _sides(across), "yerr": _sides(up)}
    panel.errorbar(*places, **sides, fmt="none", ecolor=colour, alpha=0.35, elinewidth=1, zorder=1)


def label_points(panel: Any, table: Table, first: int) -> None:
    """Axes from zero on, our labels above their points and the published ones below, as far as there is room.

    Called once all panels that share an axis are drawn.
    """
    from matplotlib.patheffects import withStroke

    panel.set_ylim(bottom=0)
    panel.set_xlim(left=0)
    ours, printed = _known([p for p in _points(table, first) if p.label not in table.marks])
    labels = [_Label(label, x.value, y.value, OURS) for label, x, y in ours]
    labels += [_Label(*one, PAPER) for one in printed]
    halo = [withStroke(linewidth=1.5, foreground="white")]  # a label may stand on a line
    style: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7, "zorder": 5, "path_effects": halo}
    for one in _with_room(panel, labels):
        shift = (5, 5 if one.colour == OURS else -11)
        panel.annotate(one.label, (one.x, one.y), shift, color=one.colour, **style)


def _with_room(panel: Any, labels: Sequence[_Label]) -> Iterator[_Label]:
    """Those that do not stand on another one; of our curve the first and the last in any case."""
    (left, right), (low, top) = panel.get_xlim(), panel.get_ylim()
    own = [one for one in labels if one.colour == OURS]
    taken: list[tuple[float, float]] = []
    for one in dict.fromkeys([*own[:1], *own[-1:], *labels]):
        x, y = (one.x - left) / (right - left), (one.y - low) / (top - low)
        if all(abs(x - a) > _LABEL_WIDE or abs(y - b) > _LABEL_HIGH for a, b in taken):
            taken.append((x, y))
            yield one
