"""The strip: better is on the right, and the method stands where its score is."""

from __future__ import annotations

import numpy as np
import pytest
from view_examples import verdict

from assay.statistics.verdict import Verdict
from assay.views.strip import random_scores, strip


def of(better: str, score: float) -> Verdict:
    return Verdict("m", "c", better, np.array([score]), np.array([[0.0, 0.5, 1.0]]))  # type: ignore[arg-type]


@pytest.mark.parametrize(("better", "score", "right"), [("higher", 2.0, True), ("higher", -1.0, False)])
def test_a_high_score_is_right_of_chance_where_higher_is_better(better: str, score: float, right: bool) -> None:
    drawn = strip(of(better, score))
    assert (drawn.own > drawn.centre) == right


def test_where_lower_is_better_the_axis_is_turned() -> None:
    drawn = strip(of("lower", -1.0))
    assert drawn.own > drawn.centre
    assert (drawn.worst, drawn.best) == ("1", "−1")


def test_everything_lies_inside_the_drawing() -> None:
    drawn = strip(verdict(4))
    places = [drawn.own, drawn.centre, *(drawn.interval or ()), *(x for x, _ in drawn.dots)]
    assert 0 <= min(places) <= max(places) <= 300
    assert all(5 <= y <= 31 for _, y in drawn.dots)


def test_equal_scores_do_not_divide_by_zero() -> None:
    drawn = strip(Verdict("m", "c", "higher", np.zeros(1), np.zeros((1, 5))))
    assert drawn.own == drawn.centre == 150


def test_many_draws_are_thinned_and_many_texts_are_averaged() -> None:
    assert len(random_scores(Verdict("m", "c", "higher", np.zeros(1), np.zeros((1, 999))))) == 200
    spread = random_scores(verdict(50)).std()
    assert 0 < spread < verdict(50).random_scores.std() / 3
