"""No title of a figure is cut off, however long it is and however narrow the figure."""

from __future__ import annotations

from typing import Any

import pytest

from assay.statistics.intervals import Estimate
from assay_studies import charts
from assay_studies.tables import Cell, Line, Table

pytest.importorskip("matplotlib")

LONG = "Table 2: Kendall's tau of attention and gradients by predicted class, with all the words that a title may have"


def tables() -> list[Table]:
    number = Cell(Estimate(0.4, 0.3, 0.5, 30), "0.5")
    one = (Line(f"AG News, {LONG}", (number, number)),)
    many = tuple(Line(f"SST, model {i}", (number, number)) for i in range(24))
    return [
        Table("dots", LONG, ("a", "b"), one),
        Table("two", LONG, ("a", "b"), one * 2),
        Table("heat", LONG, ("a", "b"), many),
        Table("bars", LONG, ("a", "b"), one, drawn="bars"),
        Table(
            "curves", LONG, ("x, left", "y, left"), tuple(Line(str(i), one[0].cells) for i in range(3)), drawn="curves"
        ),
    ]


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_titles_are_within_their_figure(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    made = charts._empty
    monkeypatch.setattr(charts, "_empty", lambda *size: drawn.append(made(*size)) or drawn[-1])
    assert charts.figure(table)
    (drawing,) = drawn
    assert " ".join(drawing._suptitle.get_text().split()).startswith(LONG)
    left, _, width, height = drawing.bbox.bounds
    titles = [
        drawing._suptitle,
        *(panel.title for panel in drawing.axes),
        *(panel._left_title for panel in drawing.axes),
    ]
    for title in titles:
        box = title.get_window_extent(drawing.canvas.get_renderer())
        assert left - 1 <= box.x0
        assert box.x1 <= width + 1
        assert box.y1 <= height + 1
