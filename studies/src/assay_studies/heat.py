"""A long table as a picture: a field for each number, the darker the larger; published numbers in brackets.

Lines whose labels begin alike (up to the first comma) stand together.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from assay_studies.tables import Cell, Line, Table

TALL = 0.2  # a line, in inches
_FIELD, _LETTER = 1.05, 0.075
_DARK = 0.6  # of the largest number: above it letters are white


def wide(table: Table) -> float:
    """The width of all fields, in inches: room for the names of the columns."""
    return len(table.columns) * max(_FIELD, *(_LETTER * len(name) for name in table.columns))


def draw(panel: Any, table: Table, lines: Sequence[Line]) -> None:
    values = np.array([[np.nan if c.ours is None else c.ours.value for c in line.cells] for line in lines])
    low, high = min(0.0, float(np.nanmin(values))), float(np.nanmax(values))
    panel.imshow(values, cmap="Blues", vmin=low, vmax=high or 1.0, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        colour = "white" if value - low > _DARK * (high - low) else "black"
        panel.text(column, row, _told(lines[row].cells[column], table.digits), **_LETTERS, color=colour)
    for row, (one, other) in enumerate(pairwise(line.label.split(",")[0] for line in lines)):
        if one != other:
            panel.axhline(row + 0.5, color="white", lw=4)
    panel.set_xticks(range(len(table.columns)), table.columns, fontsize=8)
    panel.set_yticks(range(len(lines)), [line.label for line in lines], fontsize=8)
    panel.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    for side in panel.spines.values():
        side.set_visible(False)


def _told(cell: Cell, digits: int) -> str:
    ours = "" if cell.ours is None else f"{cell.ours.value:.{digits}f}"
    return f"{ours} ({cell.published_value:.{digits}f})" if cell.published_value is not None else ours


_LETTERS: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7}
