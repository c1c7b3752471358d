"""The views of Effects: the grid, the strongest units, wide layers, and widths."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from assay.explanations.about import About
from assay.explanations.effects import ChosenUnit, Effects
from assay.explanations.sample_explanation import SampleId
from assay.statistics.intervals import Estimate
from assay.views import charts, descriptions


def effects(layers: int = 3, units: int = 4, part: str = "head") -> Effects:
    values = np.zeros((layers, units))
    values[1, 2], values[2, 0], values[0, 1] = 1.5, 0.5, -0.75
    intervals = np.stack([values - 0.1, values + 0.1], axis=-1)
    about = About(method="natural_indirect_effect", title="Natural indirect effect", model="toy")
    return Effects(
        SampleId("pairs.csv", "ab" * 16, 40),
        part,
        values,
        intervals,
        2.0 - values,
        Estimate(2.0, 1.5, 2.5, 40),
        (ChosenUnit(1, 2, 1.5), ChosenUnit(2, 0, 1.9)),
        about=about,
    )


def printed(e: Effects, width: int = 80) -> str:
    stream = StringIO()
    Console(file=stream, width=width, color_system=None).print(descriptions.terminal([e]))
    return stream.getvalue()


def test_the_terminal_shows_the_grid_and_the_strongest() -> None:
    shown = printed(effects())
    assert (
        "moves the answer by +2.00 [1.50, 2.50], over 40 pairs; 1 of 12 heads (8.3%) carries half of it."
        in " ".join(shown.split())
    )
    assert "    1      ██" in shown  # heads 0 and 1 of layer 1 have none
    assert "    0    − " in shown
    assert "layer 1, head 2        +1.50 [1.40, 1.60]         75% of the total" in shown
    assert "layer 1, head 2 75%, then layer 2, head 0 95%" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_fit(width: int) -> None:
    assert all(len(line) <= width for line in printed(effects(), width).splitlines())


def test_the_page_has_a_cell_for_each_unit() -> None:
    for html in (effects().to_html(), effects()._repr_html_()):
        assert html.count("<td class=") == 12
        assert html.count('<td class="against"') == 1
        assert "layer 1, head 2: +1.50 [1.40, 1.60]" in html


def test_wide_layers_are_a_chart() -> None:
    html = effects(units=100, part="neuron").to_html()
    assert "<td class=" not in html
    assert ("<svg" in html) == charts.can_draw()
    assert "layer 1, neuron 2" in html


def test_units_that_do_not_add_up_to_half() -> None:
    e = effects().told(total=Estimate(9.0, 8.0, 10.0, 40))
    assert e.share_for_half is None
    assert "do not add up to half of it" in printed(e)


def test_how_sure_the_share_of_units_is() -> None:
    """Of 12 heads one carries half; resamples say 1 to 3."""
    e = effects().told(half=Estimate(1 / 12, 1 / 12, 3 / 12, 40))
    assert "1 of 12 heads (8.3%, in resamples of the pairs 1 to 3) carries half of it." in " ".join(printed(e).split())
    assert Effects.from_json(e.to_json()).half == e.half
    assert "in resamples" not in printed(effects())
    every = e.told(half=Estimate(1 / 12, 1 / 12, 1 / 12, 40))
    assert "1 of 12 heads (8.3%, in every resample of the pairs) carries half of it." in " ".join(
        printed(every).split()
    )


def test_a_strong_unit_that_goes_against_the_effect_is_named() -> None:
    for e in (effects(), effects().told(total=Estimate(-2.0, -2.5, -1.5, 40), effects=-effects().effects)):
        assert "Most against it: layer 0, head 1 " in printed(e)
        assert "−38% of the total." in " ".join(printed(e).split())
        assert "Most against it" in e.to_html()
    weak = np.full((3, 4), 0.3)
    weak[0, 1] = -0.01
    assert "against it: layer" not in printed(effects().told(effects=weak))


def test_of_one_pair_there_is_no_interval() -> None:
    shown = " ".join(printed(effects().told(total=Estimate(2.0, 2.0, 2.0, 1))).split())
    assert "moves the answer by +2.00, over 1 pair;" in shown
    assert "[" not in shown.partition("Together")[0].partition("moves")[2]
