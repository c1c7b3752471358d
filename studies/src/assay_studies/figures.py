"""A figure for a table: one panel per line, our numbers with their intervals, the published ones as open rings.

A table of distributions is drawn as bars instead: its columns are bins, its lines stand side by side; for a table of
curves see `assay_studies.curves`, for one with more lines than panels can be looked at `assay_studies.heat`.

Needs matplotlib (pip install assay[plot]); without it there are no figures.
"""

from __future__ import annotations

import io
from importlib.util import find_spec
from itertools import cycle, zip_longest
from math import ceil
from typing import Any, Literal

from assay_studies import curves, heat
from assay_studies.curves import OURS, PAPER
from assay_studies.tables import Line, Table

_WIDE, _PANEL, _ROUND, _HEAD, _TALL = 5.4, 0.22, 0.7, 0.4, 3.2
_LABELS, _MANY = 2.2, 20
MISSING = "There are no figures: matplotlib is not installed (pip install assay[plot])."


def can_draw() -> bool:
    return find_spec("matplotlib") is not None


def figure(table: Table, form: Literal["png", "svg"] = "png") -> bytes | None:
    """The table as a picture; None where nothing in it was measured, or a picture would say nothing."""
    lines = _drawn(table)
    if not lines or table.drawn == "not":
        return None
    from matplotlib import rc_context  # slow to import, an extra, and only wanted here

    ways = {"dots": _dots, "bars": _bars, "curves": _curves}
    many = table.drawn == "dots" and len(lines) > _MANY
    drawing = _heat(table, lines) if many else ways[table.drawn](table, lines)
    out = io.BytesIO()
    with rc_context({"svg.hashsalt": table.name}):  # without it the same figure has other ids every time
        drawing.savefig(out, format=form, metadata={"Software": None} if form == "png" else {"Date": None})
    return out.getvalue()


def _empty(width: float, height: float) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(width, height), layout="constrained", dpi=110)
    FigureCanvasAgg(drawing)
    return drawing


def _dots(table: Table, lines: list[Line]) -> Any:
    across = min(2, len(lines))
    down = ceil(len(lines) / across)
    drawing = _empty(_WIDE * across, _HEAD + down * (_ROUND + _PANEL * max(map(_shown, lines))))
    panels = drawing.subplots(down, across, squeeze=False).flat
    for panel, line in zip_longest(panels, lines):
        _panel(panel, table, line) if line else panel.set_axis_off()
    beside = " and published (ring)" if _published(lines) else ""
    drawing.suptitle(f"{table.heading}: here (dot, 95 % interval){beside}", fontsize=10)
    return drawing


def _heat(table: Table, lines: list[Line]) -> Any:
    drawing = _empty(_LABELS + heat.wide(table), 2 * _HEAD + heat.TALL * len(lines))
    heat.draw(drawing.subplots(), table, lines)
    drawing.suptitle(f"{table.heading}{' (published in brackets)' if _published(lines) else ''}", fontsize=10)
    return drawing


def _published(lines: list[Line]) -> bool:
    return any(cell.published_value is not None for line in lines for cell in line.cells)


def _bars(table: Table, lines: list[Line]) -> Any:
    """One group of bars for each column, in it one bar for each line."""
    drawing = _empty(1.4 * _WIDE, _TALL)
    panel, width = drawing.subplots(), 0.8 / len(lines)
    for i, (line, colour) in enumerate(zip(lines, cycle((OURS, PAPER)))):
        at = [place + (i - (len(lines) - 1) / 2) * width for place in range(len(line.cells))]
        values = [(c.ours.value, c.ours.low, c.ours.high) if c.ours else (0.0, 0.0, 0.0) for c in line.cells]
        sides = [[max(0.0, v - low) for v, low, _ in values], [max(0.0, high - v) for v, _, high in values]]
        panel.bar(at, [v for v, _, _ in values], width, yerr=sides, color=colour, label=line.label, capsize=2)
    panel.set_xticks(range(len(table.columns)), table.columns, fontsize=8)
    panel.tick_params(axis="y", labelsize=8)
    panel.grid(axis="y", alpha=0.3)
    panel.set_axisbelow(True)
    panel.legend(fontsize=8)
    panel.set_title(f"{table.heading} (95 % intervals)", fontsize=10)
    return drawing


def _curves(table: Table, lines: list[Line]) -> Any:
    shown = curves.panels(table)
    drawing = _empty(1.1 * _WIDE * len(shown), 1.2 * _TALL)
    made = list(drawing.subplots(1, len(shown), squeeze=False, sharey=True).flat)
    for panel, (first, title) in zip(made, shown, strict=True):
        curves.draw(panel, table, first, title)
    for panel, (first, _) in zip(made, shown, strict=True):
        curves.name(panel, table, first)
    made[0].legend(fontsize=8)
    drawing.suptitle(table.heading, fontsize=10)
    return drawing


def _drawn(table: Table) -> list[Line]:
    """The lines that were measured; where some have published numbers, these alone."""
    measured = [line for line in table.lines if any(cell.ours for cell in line.cells)]
    return [line for line in measured if any(cell.published for cell in line.cells)] or measured


def _shown(line: Line) -> int:
    return sum(bool(cell.ours or cell.published) for cell in line.cells)


def _panel(panel: Any, table: Table, line: Line) -> None:
    cells = [(name, cell) for name, cell in zip(table.columns, line.cells, strict=True) if cell.ours or cell.published]
    for height, (_, cell) in enumerate(cells):
        if cell.ours is not None:
            sides = [[max(0.0, cell.ours.value - cell.ours.low)], [max(0.0, cell.ours.high - cell.ours.value)]]
            panel.errorbar([cell.ours.value], [height], xerr=sides, fmt="o", color=OURS, capsize=3, ms=5)
        if cell.published_value is not None:
            panel.plot([cell.published_value], [height], "o", mfc="none", mec=PAPER, ms=8)
    panel.set_yticks(range(len(cells)), [name for name, _ in cells], fontsize=8)
    panel.set_ylim(len(cells) - 0.5, -0.5)
    panel.set_title(line.label, fontsize=9, loc="left")
    panel.tick_params(axis="x", labelsize=8)
    panel.grid(axis="x", alpha=0.3)
