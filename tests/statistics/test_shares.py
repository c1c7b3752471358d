"""Shares of words are counted exactly, whatever the last bit of a product of floats says."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from assay.statistics.curves import how_many
from assay.statistics.shares import share_of


@given(st.integers(0, 100_000), st.integers(0, 1000))
@example(100, 70)  # 0.07 * 100 is a little more than 7
def test_a_share_is_rounded_up_as_whole_numbers_are(n: int, thousandths: int) -> None:
    assert share_of(n, thousandths / 1000) == -(-n * thousandths // 1000)


def test_deletion_and_insertion_take_no_word_too_many() -> None:
    assert how_many(100, 0.07, "paper") == how_many(101, 0.07, "released") == 7
