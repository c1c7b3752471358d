"""Charts: what is drawn is what was counted, and a drawing fits into a page."""

from __future__ import annotations

import re

import numpy as np
import pytest

from assay.views.charts import Scale, dot_rows, histogram
from drawn_bars import TALL, bars, heights

SCALE = Scale("Kendall's τ", -1.0, 1.0, (-1.0, 0.0, 1.0))
LINE = re.compile(r'<path d="M ([\d.]+) [\d.]+ \nL ([\d.]+) [\d.]+ [^"]*"[^>]*stroke: currentColor')


def test_columns_count_every_value_and_stand_on_each_other() -> None:
    svg = histogram([np.array([0.33, 0.34, -1.0]), np.array([0.33, 1.0])], SCALE, "title")
    assert sum(heights(svg)) == pytest.approx(5 * TALL / 3)
    first, second, third, *rest = sorted(bars(svg))
    assert first[3] == "blue"  # -1 is in the first column
    assert (second[0], second[1], second[3]) == (third[0], pytest.approx(third[2]), "orange")  # on top of two blue ones
    assert third[1] - third[2] == pytest.approx(2 * (second[1] - second[2]))
    assert [one[3] for one in rest] == ["orange"]


def test_the_reference_is_an_outline_of_its_own_counts() -> None:
    svg = histogram([np.array([0.5])], SCALE, "title", np.array([-0.5] * 4))
    assert ">4</text>" in svg  # the axis reaches to the higher of the two
    assert heights(svg) == [pytest.approx(TALL / 4)]
    outline = re.search(r'<path d="([^"]*)"[^>]*stroke: var\(--quiet\)', svg)
    assert outline is not None
    assert " 14 " in outline[1]  # up to the top of the plot


def test_nothing_to_count_is_drawn_as_nothing() -> None:
    svg = histogram([np.zeros(0)], SCALE, "title", np.zeros(0))
    assert heights(svg) == []


def test_rows_of_dots_have_a_median_and_a_middle_half() -> None:
    values = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    svg = dot_rows([("upper", [values, np.zeros(0)]), ("lower", [np.zeros(0), np.zeros(0)])], SCALE, "title", "weight")
    assert svg.count("no texts") == 1
    assert svg.index(">upper<") < svg.index(">lower<")
    dots = re.findall(r'<use href="[^"]*" x="([\d.]+)" y="([\d.]+)" style="fill: rgb', svg)
    assert [float(x) for x, _ in dots] == pytest.approx([74, 157.5, 241, 324.5, 408])
    middle, median = ([float(x) for x in line] for line in LINE.findall(svg))
    assert middle == pytest.approx([157.5, 324.5])
    assert median == pytest.approx([241, 241])


def test_a_drawing_fits_into_a_page() -> None:
    svg = histogram([np.array([0.3])], SCALE, "<b>&")
    assert svg.startswith('<svg viewBox="0 0 420 190" role="img" aria-label="&lt;b&gt;&amp;">')
    assert "http" not in svg
    assert "<style" not in svg
    assert "#0000" not in svg
    assert "font-family" not in svg
    assert not re.search(r' id="\w+_\d+"', svg)
    assert svg == histogram([np.array([0.3])], SCALE, "<b>&")
