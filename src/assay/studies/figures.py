"""A figure for a table: one panel per line, our numbers with their intervals, the published ones as open rings.

Needs matplotlib (pip install assay[plot]); without it there are no figures.
"""

from __future__ import annotations

import io
from importlib.util import find_spec
from itertools import zip_longest
from math import ceil
from typing import Any

from assay.studies.tables import Line, Table

_OURS, _PAPER = "#2070d0", "#e87a14"
_WIDE, _PANEL, _ROUND, _HEAD = 5.4, 0.22, 0.7, 0.4
MISSING = "There are no figures: matplotlib is not installed (pip install assay[plot])."


def can_draw() -> bool:
    return find_spec("matplotlib") is not None


def figure(table: Table) -> bytes | None:
    """The table as a PNG; None where nothing in it was measured."""
    lines = _drawn(table)
    if not lines:
        return None
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # slow to import, an extra, and only wanted here
    from matplotlib.figure import Figure

    across = min(2, len(lines))
    down = ceil(len(lines) / across)
    height = _HEAD + down * (_ROUND + _PANEL * max(map(_shown, lines)))
    drawing = Figure(figsize=(_WIDE * across, height), layout="constrained", dpi=110)
    FigureCanvasAgg(drawing)
    panels = drawing.subplots(down, across, squeeze=False).flat
    for panel, line in zip_longest(panels, lines):
        _panel(panel, table, line) if line else panel.set_axis_off()
    drawing.suptitle(f"{table.heading}: here (dot, 95 % interval) and published (ring)", fontsize=10)
    out = io.BytesIO()
    drawing.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


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
            panel.errorbar([cell.ours.value], [height], xerr=sides, fmt="o", color=_OURS, capsize=3, ms=5)
        if cell.published_value is not None:
            panel.plot([cell.published_value], [height], "o", mfc="none", mec=_PAPER, ms=8)
    panel.set_yticks(range(len(cells)), [name for name, _ in cells], fontsize=8)
    panel.set_ylim(len(cells) - 0.5, -0.5)
    panel.set_title(line.label, fontsize=9, loc="left")
    panel.tick_params(axis="x", labelsize=8)
    panel.grid(axis="x", alpha=0.3)
