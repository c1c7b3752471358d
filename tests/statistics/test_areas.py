"""Areas under curves, on curves whose area one can do in the head, in both variants."""

from __future__ import annotations

import numpy as np
import pytest

from assay.statistics.curves import area, how_many


@pytest.mark.parametrize(
    ("n", "share", "paper", "released"),
    [(10, 0.2, 2, 2), (11, 0.2, 3, 2), (1, 0.2, 1, 2), (12, 0.2, 3, 3), (20, 0.5, 10, 10), (21, 0.5, 11, 10)],
)
def test_how_many_words_are_moved(n: int, share: float, paper: int, released: int) -> None:
    assert how_many(n, share, "paper") == paper
    assert how_many(n, share, "released") == released


def test_the_area_lies_over_the_whole_way_or_over_all_but_the_first_step() -> None:
    curve = np.array([1.0, 0.5, 0.25, 0.0, 0.0])
    assert area(curve, "paper") == pytest.approx(0.25 * (0.75 + 0.375 + 0.125 + 0.0))
    assert area(curve, "released") == pytest.approx(0.25 * (0.375 + 0.125 + 0.0))
    assert area(np.full(4, 0.6), "paper") == pytest.approx(0.6)
    assert area(np.full(4, 0.6), "released") == pytest.approx(0.6 * 2 / 3)
