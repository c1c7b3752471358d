"""The memory of answers: bounded, the oldest go first, errors are not kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.engine.cache import Memo


def rows(start: int, n: int) -> list[tuple[str]]:
    return [(f"text {i}",) for i in range(start, start + n)]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12))
def test_what_is_kept_fits_the_budget_and_is_the_newest(sizes: list[int]) -> None:
    memo, at = Memo(budget=5_000), 0
    for size in sizes:
        memo.put(rows(at, size), range(at, at + size))
        at += size
    kept = [i for i in range(at) if memo.get((f"text {i}",)) is not None]
    assert kept == list(range(at - len(kept), at))
    assert len(memo) == len(kept)
    assert sum(200 + len(f"text {i}") for i in kept) == memo.used <= 5_000
    assert not at or kept


def test_a_put_larger_than_the_budget_leaves_its_newest_rows() -> None:
    memo = Memo(budget=5_000)
    memo.put(rows(0, 1000), range(1000))
    assert 0 < len(memo) < 25
    assert memo.get(("text 999",)) == 999


def test_errors_are_not_remembered() -> None:
    memo = Memo()
    memo.put(rows(0, 2), [ValueError("no"), 1])
    assert memo.get(("text 0",)) is None
    assert memo.get(("text 1",)) == 1


def test_a_row_that_comes_twice_is_forgotten_once() -> None:
    memo = Memo(budget=1_000)
    for _ in range(20):
        memo.put(rows(0, 2), [1, 2])
    assert memo.used <= 1_000
