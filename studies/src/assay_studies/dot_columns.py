"""A panel for each column: the lines of a table below each other as dots on one axis, so that they can be compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from assay.statistics.intervals import Estimate
from assay_studies.tables import Line, Table

OURS, PAPER = "#2070d0", "#e87a14"
_WIDE, _LABELS, _HEAD, _ROW = 3.4, 2.4, 0.9, 0.24  # in inches


def measured_columns(table: Table, lines: Sequence[Line]) -> list[int]:
    """The columns in which something was measured; others hold words or counts."""
    return [i for i in range(len(table.columns)) if any(line.cells[i].ours for line in lines)]


def size(columns: int, lines: int) -> tuple[float, float]:
    return _LABELS + _WIDE * columns, _HEAD + _ROW * lines


def draw_columns(panels: Sequence[Any], table: Table, lines: Sequence[Line], sides: Callable[..., Any]) -> None:
    """One panel a column, in the order of `measured_columns`; `sides` are how far intervals reach from their values."""
    for panel, column in zip(panels, measured_columns(table, lines), strict=True):
        for height, line in enumerate(lines):
            cell = line.cells[column]
            if cell.ours is not None:
                _dot(panel, cell.ours, height, sides)
            if cell.published_value is not None:
                panel.plot([cell.published_value], [height], "o", mfc="none", mec=PAPER, ms=8)
        panel.set_title(table.columns[column], fontsize=9, loc="left")
        panel.tick_params(axis="x", labelsize=8)
        panel.grid(axis="x", alpha=0.3)
    panels[0].set_yticks(range(len(lines)), [line.label for line in lines], fontsize=8)
    panels[0].set_ylim(len(lines) - 0.5, -0.5)


def _dot(panel: Any, found: Estimate, height: int, sides: Callable[..., Any]) -> None:
    panel.errorbar([found.value], [height], xerr=sides([found]), fmt="o", color=OURS, capsize=3, ms=5)
