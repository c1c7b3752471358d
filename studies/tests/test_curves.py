"""Tables drawn as curves: what stands on the lines is what stands in the table."""

from __future__ import annotations

from typing import Any

import pytest

from assay.statistics.intervals import Estimate
from assay_studies import charts
from assay_studies.charts import figure
from assay_studies.tables import Cell, Line, Table

pytest.importorskip("matplotlib")
OURS = {"λ 0": (0.3, 0.02), "λ 1e-4": (0.1, 0.01), "λ 1": (0.6, 0.2)}
PAPER = {"λ 0": (0.25, 0.03), "λ 0.5": (0.5, 0.04)}


def cell(ours: float | None, published: float | None) -> Cell:
    told = None if ours is None else Estimate(ours, ours - 0.01, ours + 0.02, 9)
    return Cell(told, "" if published is None else f"{published:.3f}")


def table(columns: tuple[str, ...] = ("attention JSD", "answer TVD")) -> Table:
    lines = []
    for label in ("λ 0", "λ 1e-4", "λ 0.5", "λ 1"):
        pairs = zip(OURS.get(label, (None, None)), PAPER.get(label, (None, None)), strict=True)
        lines.append(Line(label, tuple(cell(*pair) for pair in pairs) * (len(columns) // 2)))
    lines.append(Line("other seeds", (cell(0.05, None), cell(0.15, None)) * (len(columns) // 2)))
    return Table("t", "Figure 5", columns, tuple(lines), drawn="curves", marks=("other seeds",))


def drawn(of: Table, first: int = 0) -> Any:
    from matplotlib.figure import Figure

    panel = Figure().subplots()
    charts.draw_curve(panel, of, first, "a class")
    charts.label_points(panel, of, first)
    return panel


def points(line: Any) -> list[tuple[float, float]]:
    return list(zip(line.get_xdata(), line.get_ydata(), strict=True))


def test_lines_hold_the_numbers_of_the_table_in_its_order() -> None:
    panel = drawn(table())
    found = {line.get_label(): points(line) for line in panel.get_lines()}
    assert found["here (95 % intervals)"] == list(OURS.values())
    assert found["published"] == list(PAPER.values())
    assert found["other seeds"] == [(0.05, 0.15)]
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("attention JSD", "answer TVD")


def test_points_are_named_where_there_is_room() -> None:
    named = {text.get_text(): text.xy for text in drawn(table()).texts}
    assert named["λ 0"] == OURS["λ 0"]
    assert named["λ 1"] == OURS["λ 1"]
    assert set(named) == {"λ 0", "λ 1e-4", "λ 1", "λ 0.5"}
    close = tuple(Line(f"λ {i}", (cell(0.3 + i / 1000, None), cell(0.1, None))) for i in range(20))
    crowd = Table("t", "", ("x", "y"), (*close, Line("λ far", (cell(0.6, None), cell(0.3, None)))), drawn="curves")
    assert len(drawn(crowd).texts) <= 4
    assert {"λ 0", "λ far"} <= {text.get_text() for text in drawn(crowd).texts}


def test_intervals_are_drawn_both_ways() -> None:
    panel = drawn(table())
    ends = [segment for bars in panel.collections for segment in bars.get_segments()]
    assert any(segment[:, 0].tolist() == pytest.approx([0.29, 0.32]) for segment in ends)
    assert any(segment[:, 1].tolist() == pytest.approx([0.01, 0.04]) for segment in ends)


def test_one_panel_for_each_pair_of_columns() -> None:
    of = table(("JSD, predicted bad", "TVD, predicted bad", "JSD, predicted good", "TVD, predicted good"))
    assert charts.curve_panels(of) == [(0, "predicted bad"), (2, "predicted good")]
    assert (drawn(of, 2).get_xlabel(), drawn(of, 2).get_title("left")) == ("JSD", "a class")
    picture = figure(of)
    assert picture is not None
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_table_with_curves_is_kept_and_read_again() -> None:
    of = table()
    assert Table.from_dict(of.to_dict()) == of
    older = {name: value for name, value in of.to_dict().items() if name not in ("marks", "drawn")}
    assert Table.from_dict(older).marks == ()


def test_a_table_without_numbers_makes_no_figure() -> None:
    assert figure(Table("t", "", ("x", "y"), (Line("λ 0", (Cell(), Cell())),), drawn="curves")) is None


def test_every_point_is_within_the_axes_that_panels_share() -> None:
    columns = ("x, predicted a", "y, predicted a", "x, predicted b", "y, predicted b")
    low, high = (cell(0.1, None), cell(0.01, None)), (cell(0.6, None), cell(0.5, None))
    of = Table("t", "", columns, (Line("λ 0", (*low, *low)), Line("λ 1", (*low, *high))), drawn="curves")
    panels = charts._curves(of, list(of.lines)).axes
    assert all(panel.get_ylim()[0] == 0 and panel.get_ylim()[1] > 0.5 for panel in panels)
