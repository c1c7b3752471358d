"""Shares of a ranking: rounded up, but not because 0.07 times 100 is a little more than 7 in binary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.erasers import shares


@pytest.mark.parametrize(
    ("n", "share", "count"),
    [(100, 0.07, 7), (100, 0.071, 8), (100, 0.29, 29), (10, 0.05, 1), (3, 0.5, 2), (7, 0.0, 0), (7, 1.0, 7)],
)
def test_how_many_words_a_share_is(n: int, share: float, count: int) -> None:
    assert shares(np.arange(n), [share])[0].sum() == count


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_a_share_that_is_a_whole_number_of_words_is_that_number(given_: tuple[int, int]) -> None:
    n, count = given_
    assert shares(np.arange(n), [count / n])[0].sum() == count


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.integers(0, n))))
def test_the_first_of_the_ranking_are_held(given_: tuple[list[int], int]) -> None:
    ranking, count = given_
    (kept,) = shares(ranking, [count / len(ranking)])
    assert set(np.flatnonzero(kept)) == set(ranking[:count])
