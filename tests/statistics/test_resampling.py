"""Resamples: how many there are, and that blocks and what is kept change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from assay.statistics import resampling
from assay.statistics.intervals import Estimate
from assay.statistics.ranks import ordered


@pytest.mark.parametrize(("seeds", "total"), [(0, 4000), (3, 2000)])
def test_how_many_and_of_what(seeds: int, total: int) -> None:
    blocks = list(resampling.resamples(7, seeds))
    counts = np.concatenate([block.counts for block in blocks])
    drawn = np.concatenate([block.seeds for block in blocks])
    assert counts.shape == (total, 7)
    assert (counts.sum(axis=1) == 7).all()
    assert drawn.shape == (total, seeds)
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.1)
    assert set(np.unique(drawn)) == set(range(seeds))


@pytest.mark.parametrize("seeds", [0, 3])
def test_what_is_kept_is_what_is_drawn(seeds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = list(resampling.resamples(5, seeds))
    monkeypatch.setattr(resampling, "_MOST_KEPT", 10)
    drawn = list(resampling.resamples(5, seeds))
    for one, other in zip(kept, drawn, strict=True):
        np.testing.assert_array_equal(one.counts, other.counts)
        np.testing.assert_array_equal(one.seeds, other.seeds)


def test_only_what_is_small_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "_MOST_KEPT", 4000 * 5)
    resampling._kept.cache_clear()
    resampling.resamples(6)
    assert resampling._kept.cache_info().currsize == 0
    resampling.resamples(5)
    assert resampling._kept.cache_info().currsize == 1


def test_places_are_the_same_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(resampling.indices(3, 9, seed=1)))
    monkeypatch.setattr(resampling, "_CELLS", 21)
    blocks = list(resampling.indices(3, 9, seed=1))
    assert {len(block) for block in blocks} <= {7, 10_000 % 7}
    np.testing.assert_array_equal(np.concatenate(blocks), whole)
    assert whole.shape == (10_000, 3)
    monkeypatch.setattr(resampling, "_CELLS", 1)
    assert len(next(resampling.indices(3, 9, seed=1))) == 1


def test_an_interval_that_touches_zero_decides_nothing() -> None:
    touching = [Estimate(-1, -2, 0, 50), Estimate(1, 0, 2, 50)]
    assert [(one.below, one.above, one.sign) for one in touching] == [(None, None, 0)] * 2
    assert Estimate(1, 0.5, 2, 20).above is True
    assert Estimate(1, 0.5, 2, 19).above is None


def test_what_differs_by_less_than_a_hundred_thousandth_has_no_order() -> None:
    assert not ordered(np.array([1.0, 1.0 - 4e-6]))
    assert ordered(np.array([1.0, 1.0 - 2e-5]))
    assert not ordered(np.array([-1e6, -1e6 + 4]))
