"""Words and scores: as many finite scores as words, an order with a rule for ties, and random maps of the same size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.text.text import Text

CASE = Case(Text.of("a fine film"), 1)


@pytest.mark.parametrize(
    "scores",
    [
        [1.0, np.nan, 2.0],
        [1.0, np.inf, 2.0],
        [-np.inf, 0.0, 0.0],
        [np.nan] * 3,
        [1.0, 2.0],
        [1.0] * 4,
        [[1.0, 2.0, 3.0]],
        [],
    ],
)
def test_scores_are_finite_and_as_many_as_the_words(scores: Any) -> None:
    with pytest.raises(ValueError, match="3 words need as many finite scores"):
        TokenScores(CASE, np.array(scores))


def test_scores_cannot_be_changed_and_are_not_the_callers() -> None:
    given = np.array([1.0, 2.0, 3.0])
    e = TokenScores(CASE, given)
    given[0] = 9
    assert e.scores.tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="read-only"):
        e.scores[0] = 5


def test_the_ranking_goes_from_the_highest_and_among_equals_from_the_left() -> None:
    e = TokenScores(CASE, np.array([-5.0, 1.0, 1.0]))
    assert e.ranking.tolist() == [1, 2, 0]
    assert e.top(2) == ("fine", "film")


@pytest.mark.parametrize("signed", [True, False])
def test_random_maps_have_the_same_size_and_sign(signed: bool) -> None:
    e = TokenScores(CASE, np.array([3.0, 0.0, 4.0]), facts={"signed": signed})
    drawn = np.array([one.scores for one in e.random_like(50)])
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 5.0)
    assert (drawn < 0).any() == signed
    assert len(np.unique(drawn[:, 0])) == 50
    again = np.array([one.scores for one in e.random_like(50)])
    np.testing.assert_array_equal(drawn, again)


def test_random_maps_of_a_map_of_zeros_are_not_zeros() -> None:
    drawn = [one.scores for one in TokenScores(CASE, np.zeros(3)).random_like(5)]
    assert all(np.linalg.norm(scores) > 0.01 for scores in drawn)


def test_there_and_back_and_as_a_table() -> None:
    e = TokenScores(CASE, np.array([0.1, -0.2, 1 / 3]))
    assert TokenScores.from_json(e.to_json()).scores.tolist() == e.scores.tolist()
    frame = e.to_frame()
    assert frame["word"].tolist() == ["a", "fine", "film"]
    assert frame["score"].tolist() == e.scores.tolist()
    assert frame[["start", "end"]].to_numpy().tolist() == [[0, 1], [2, 6], [7, 11]]
