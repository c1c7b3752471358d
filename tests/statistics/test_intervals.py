"""One interval type and one bootstrap: against scipy's, and with the streams that published numbers were drawn from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from assay.errors import BadInput
from assay.statistics import resampling
from assay.statistics.intervals import (
    Estimate,
    bootstrap,
    difference,
    estimate,
    estimate_over_seeds,
    f1,
    mean_over_seeds,
    ratio,
)
from assay.statistics.verdict import Verdict

RNG = np.random.default_rng(7)
VALUES = RNG.gamma(2.0, size=120)
TABLE = np.column_stack([RNG.random(120) * VALUES, VALUES])
TOLERANCE = 0.15  # of the interval's width: two bootstraps of a few thousand resamples


def scipy_interval(columns: tuple[Any, ...], statistic: Any) -> tuple[float, float]:
    found = stats.bootstrap(
        columns, statistic, paired=True, vectorized=False, n_resamples=5000, method="percentile", rng=1
    ).confidence_interval
    return float(found.low), float(found.high)


def close(found: Estimate | None, oracle: tuple[float, float]) -> None:
    assert found is not None
    assert found.low < found.value < found.high
    assert (found.low, found.high) == pytest.approx(oracle, abs=TOLERANCE * (oracle[1] - oracle[0]))


def test_a_mean_has_the_interval_of_scipy() -> None:
    close(estimate(VALUES), scipy_interval((VALUES,), np.mean))
    close(mean_over_seeds(VALUES), scipy_interval((VALUES,), np.mean))


def test_a_ratio_and_an_f1_are_resampled_as_they_are_computed() -> None:
    close(estimate(TABLE, ratio), scipy_interval((TABLE[:, 0], TABLE[:, 1]), lambda a, b: a.sum() / b.sum()))
    shares = np.column_stack([RNG.random(120), RNG.random(120) / 2])
    close(
        estimate(shares, f1),
        scipy_interval((shares[:, 0], shares[:, 1]), lambda p, r: 2 * p.mean() * r.mean() / (p.mean() + r.mean())),
    )


def test_a_difference_is_paired() -> None:
    other = VALUES + 0.1 + RNG.normal(size=120) * 0.05
    found = difference(other, VALUES)
    close(found, scipy_interval((other, VALUES), lambda a, b: a.mean() - b.mean()))
    assert found is not None
    assert found.high - found.low < 0.05
    with pytest.raises(BadInput, match="not 120 and 3"):
        difference(VALUES, VALUES[:3])


def test_the_verdict_has_the_interval_of_scipy() -> None:
    random = VALUES[:, None] + RNG.normal(size=(120, 4))
    verdict = Verdict("m", "c", "higher", VALUES + 0.5, random)
    paired = verdict.scores - random.mean(axis=1)
    close(verdict.estimate, scipy_interval((paired,), np.mean))
    assert (verdict.estimate.low, verdict.estimate.high) == verdict.interval


def test_seeds_are_resampled_with_the_texts() -> None:
    table = np.stack([VALUES, VALUES + 1, VALUES + 3])
    low, high = estimate(VALUES).low, estimate(VALUES).high  # type: ignore[union-attr]
    found = mean_over_seeds(table)
    assert found.value == pytest.approx(VALUES.mean() + 4 / 3)
    assert found.high - found.low > 2 * (high - low)
    counted = estimate_over_seeds(120, 3, lambda counts, seeds: seeds.mean(axis=1))
    assert (counted.value, counted.low >= 0, counted.high <= 2) == (1.0, True, True)


def test_what_cannot_be_estimated() -> None:
    assert estimate(np.array([])) is None
    assert estimate(np.array([[1.0, 0.0]]), ratio) is None
    some = np.zeros((30, 2))
    some[0] = 1, 2
    found = estimate(some, ratio)  # a resample without the only text that counts has no ratio
    assert found is not None
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_what_an_interval_decides() -> None:
    over, under, both, few = (Estimate(*x) for x in ((1, 0.5, 2, 50), (-1, -2, -0.5, 50), (0, -1, 1, 50), (1, 1, 1, 5)))
    assert [one.above for one in (over, under, both, few)] == [True, False, None, None]
    assert [one.below for one in (over, under, both, few)] == [False, True, None, None]
    assert [one.sign for one in (over, under, both, few)] == [1, -1, 0, 1]
    assert over.shown() == "1.000 [0.500, 2.000]"
    assert over.shown(1, "+") == "+1.0 [+0.5, +2.0]"


def test_the_streams_have_not_changed() -> None:
    """What the three bootstraps that this one replaced found for the same numbers: published pages rest on them."""
    values = np.arange(30.0) ** 1.5
    found = estimate(values)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((45.810559075975654, 80.94495907221871), rel=1e-12)
    seeded = mean_over_seeds(np.stack([values, values + 3, values * 2]))
    assert (seeded.low, seeded.high) == pytest.approx((52.70155614944638, 130.65937699938576), rel=1e-12)
    verdict = Verdict("m", "c", "higher", values, np.stack([values[::-1], values - 2], axis=1), seed=5)
    paired = verdict.scores - verdict.random_scores.mean(axis=1)
    edges = bootstrap(lambda chosen: paired[chosen].mean(axis=1), resampling.indices(30, 30, 5))
    assert edges == pytest.approx((-16.062434143401486, 18.048722006764848), rel=1e-12)
    assert verdict.p_value == pytest.approx(0.46515348465153483, rel=1e-12)


def test_blocks_do_not_change_the_numbers() -> None:
    whole = np.concatenate(list(resampling.indices(3, 10, seed=2)))
    rng = np.random.default_rng(2)
    assert np.array_equal(whole, rng.integers(10, size=(10_000, 3)))
    assert bootstrap(lambda block: block, [np.arange(50.0), np.arange(50.0, 101.0)]) == (2.5, 97.5)
