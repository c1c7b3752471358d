"""Long tables as fields: every number stands in its place, published ones in brackets, what is missing stays empty."""

from __future__ import annotations

import io

import pytest

from assay.statistics.intervals import Estimate
from assay_studies import charts
from assay_studies.charts import figure
from assay_studies.tables import Cell, Line, Table

pytest.importorskip("matplotlib")


def cell(value: float, published: str = "") -> Cell:
    return Cell(Estimate(value, value - 0.1, value + 0.1, 30), published)


def table(count: int) -> Table:
    lines = [Line(f"{'SST' if i % 30 < 15 else 'IMDb'}, model {i}", (cell(i / 100), Cell())) for i in range(count - 1)]
    return Table("t", "Title", ("a share", "the other"), (*lines, Line("x", (cell(0.9, "0.25 ± 0.1"), cell(-0.2)))))


def test_every_number_stands_in_its_place() -> None:
    from matplotlib.figure import Figure

    panel, long = Figure().subplots(), table(24)
    charts.draw_heat(panel, long, long.lines)
    told = {(round(t.get_position()[1]), round(t.get_position()[0])): t.get_text() for t in panel.texts}
    for row, line in enumerate(long.lines):
        for column, one in enumerate(line.cells):
            ours = "" if one.ours is None else f"{one.ours.value:.3f}"
            assert told[row, column] == (f"{ours} (0.250)" if one.published else ours)
    assert [label.get_text() for label in panel.get_yticklabels()] == [line.label for line in long.lines]
    assert len(panel.lines) == 2  # between SST and IMDb, and before x
    assert [t.get_color() for t in panel.texts if t.get_text() in ("0.900 (0.250)", "-0.200")] == ["white", "black"]


def test_only_long_tables_are_drawn_so() -> None:
    from PIL import Image

    bare = (Table("t", "Title", ("a share", "the other"), table(n + 1).lines[:-1]) for n in (20, 48))
    few, many = (Image.open(io.BytesIO(figure(one) or b"")).size for one in bare)
    assert many[1] < 1.5 * few[1]  # as panels they would be more than twice as tall
    wide = Table("t", "", ("a" * 40, "b"), table(30).lines)
    assert charts.heat_width(wide) > charts.heat_width(table(30))


def test_columns_of_dots_stand_on_one_axis() -> None:
    """Every measured number is a dot at its line; columns of words have no panel."""
    lines = [Line(f"line {i}", (cell(i / 10), Cell(counted="a word"), cell(0.9, "0.5"))) for i in range(4)]
    long = Table("t", "Title", ("one", "words", "two"), tuple(lines), drawn="columns")
    first, second = charts._columns(long, lines).axes
    assert [panel.get_title(loc="left") for panel in (first, second)] == ["one", "two"]
    for panel, column in ((first, 0), (second, 2)):
        dots = [
            (float(one.get_xdata()[0]), float(one.get_ydata()[0])) for one in panel.lines if one.get_mfc() != "none"
        ]
        wanted = [(line.cells[column].ours.value, i) for i, line in enumerate(lines) if line.cells[column].ours]
        assert set(wanted) <= set(dots)
    assert first.get_xlim() == second.get_xlim()
    assert [label.get_text() for label in first.get_yticklabels()] == [line.label for line in lines]
    assert sum(one.get_mec() == charts.PAPER for one in second.lines) == 4
