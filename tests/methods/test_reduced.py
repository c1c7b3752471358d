"""What a search over shorter texts makes of its maps: rounding is relative to all of them, flat ones have no order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from assay.methods.input_features.reduced import Version, _flat, shifts, steady
from assay.text.text import Text

TEXT = Text.of("a b c d")


def version(*kept: int) -> Version:
    found = Version(TEXT, (0, 1, 2, 3), None, None, 0.0, ())
    for gone in [i for i in range(4) if i not in kept]:
        found = found.without(found.kept.index(gone), 0.0)
    return found


def test_digits_are_counted_from_the_largest_of_all_maps() -> None:
    """What is rounding beside the largest map is no order, though it may be one in a map by itself."""
    large, small = np.array([1.0, -2.0]), np.array([1e-12, 2e-12])
    alone = steady([small])[0]
    beside = steady([large, small])[1]
    assert alone[0] < alone[1]
    assert beside[0] == beside[1] == 0
    assert steady([small, large])[0].tolist() == beside.tolist()
    assert steady([np.zeros(2)])[0].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("heat", "flat"),
    [
        ([1.0, 1.0], True),
        ([-1.0, -1.0 - 1e-13], True),
        ([-1.0, -2.0], False),
        ([0.0, 0.0], True),
        ([1.0], True),
        ([0.0, 1.0], False),
    ],
)
def test_a_map_without_an_order(heat: list[float], flat: bool) -> None:
    assert _flat(np.array(heat)) == flat


def test_maps_are_compared_on_the_words_that_remain() -> None:
    maps = [np.array([4.0, 3.0, 2.0, 1.0]), np.array([1.0, 3.0, 2.0]), np.array([5.0, 5.0]), None]
    path = [version(0, 1, 2, 3), version(0, 2, 3), version(2, 3), version(3)]
    told = shifts(path, maps)
    assert told["kendall"] == [pytest.approx(kendalltau([4, 2, 1], [1, 3, 2]).statistic), None, None]
    assert told["mean_kendall"] == told["kendall"][0]
    assert told["undefined_steps"] == 2
    assert [one.kept for one in path[2].path()] == [(0, 1, 2, 3), (1, 2, 3), (2, 3)]


def test_an_edit_says_what_went_in_order() -> None:
    edit = version(2, 3).edit()
    assert edit.operations == (("remove", 0, "a"), ("remove", 1, "b"))
