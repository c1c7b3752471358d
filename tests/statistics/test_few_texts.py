"""Intervals of few texts: how often they hold the true mean, and that random explanations do not pass by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from assay.statistics.few_texts import ENOUGH, FEWEST, interval_of_few
from assay.statistics.intervals import bootstrap
from assay.statistics.resampling import indices
from assay.statistics.verdict import Verdict

Draw = Callable[[np.random.Generator, int], Any]

# What differences may look like, and their mean.
KINDS: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, n: rng.normal(size=n), 0.0),
    "skewed": (lambda rng, n: rng.exponential(size=n), 1.0),
    "discrete": (lambda rng, n: rng.integers(-1, 2, size=n).astype(float), 0.0),
}
TRIALS = 300
SLACK = 2 * np.sqrt(0.93 * 0.07 / TRIALS)


def verdict(paired: Any) -> Verdict:
    return Verdict("m", "c", "higher", np.asarray(paired, dtype=float), np.zeros((len(paired), 1)))


def interval(paired: Any) -> tuple[float, float]:
    """That of the verdict, with fewer resamples."""
    n = len(paired)
    places = np.random.default_rng(n).integers(n, size=(600, n))
    if n < ENOUGH:
        return interval_of_few(paired, [places])
    return bootstrap(lambda chosen: paired[chosen].mean(axis=1), [places])


def test_numbers_that_are_all_the_same_have_no_width() -> None:
    with np.errstate(all="raise"):  # nor is anything divided by their spread
        assert interval(np.full(6, 0.5)) == (0.5, 0.5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [5, 10, 20, 50, 100])
def test_the_interval_covers(kind: str, n: int) -> None:
    draw, mean = KINDS[kind]
    rng = np.random.default_rng([n, len(kind)])
    found = [interval(draw(rng, n)) for _ in range(TRIALS)]
    covered = np.mean([low <= mean <= high for low, high in found])
    assert covered >= 0.93 - SLACK


@pytest.mark.parametrize("n", [2, 3, 4])
def test_below_five_texts_it_reaches_from_the_worst_text_to_the_best(n: int) -> None:
    """However alike the random explanations are, so that resamples of them hardly differ."""
    paired = np.arange(1.0, n + 1.0)
    random = np.random.default_rng(n).normal(0, 1e-3, size=(n, 20))
    low, high = Verdict("m", "c", "higher", paired, random).interval
    assert (low, high) == pytest.approx((1.0, float(n)), abs=2e-3)


@pytest.mark.parametrize("n", [5, 20, 99])
def test_the_verdict_takes_that_interval(n: int) -> None:
    """As wide as Student's at least, on both sides."""
    paired = np.random.default_rng(n).exponential(size=n)
    low, high = verdict(paired).interval
    student = stats.t.interval(0.95, n - 1, paired.mean(), stats.sem(paired))
    assert low <= student[0] + 1e-9 < student[1] - 1e-9 <= high
    assert (low, high) == interval_of_few(paired, indices(n, n, 0))


@pytest.mark.parametrize(("n", "wider"), [(50, 1.06), (99, 1.04), (100, 1.0), (200, 1.0)])
def test_published_intervals_of_many_texts_hardly_move(n: int, wider: float) -> None:
    paired = np.arange(float(n)) ** 1.5
    plain = bootstrap(lambda chosen: paired[chosen].mean(axis=1), indices(n, n, 0))
    low, high = verdict(paired).interval
    assert (high - low) / (plain[1] - plain[0]) == pytest.approx(wider, abs=0.03 * (wider > 1))


def test_equal_numbers_have_no_width() -> None:
    assert interval_of_few(np.ones(6), indices(6, 6, 0)) == (1.0, 1.0)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_below_five_texts_the_interval_is_of_these_texts(n: int) -> None:
    """Differences that are alike by chance show no spread over texts; random maps of the same texts do."""
    assert n < FEWEST
    random = np.tile(np.arange(10.0), (n, 1))
    low, high = Verdict("m", "c", "higher", np.full(n, 5.0), random).interval  # each text is 0.5 better
    assert low < 0 < high
    assert low == pytest.approx(5 - np.quantile(sums(random), 0.975), abs=0.4)


def sums(random: Any) -> Any:
    return np.add.reduce(np.meshgrid(*random)).ravel() / len(random)


@pytest.mark.parametrize(("texts", "draws"), [(2, 20), (3, 20), (5, 20), (10, 10), (30, 5)])
def test_random_explanations_pass_no_more_often_than_before(texts: int, draws: int) -> None:
    """Before, percentiles of the bootstrap had to be above zero."""
    rng, now, before = np.random.default_rng(texts), 0, 0
    for _ in range(200):
        values = rng.exponential(size=(texts, draws + 1))
        v = Verdict("m", "c", "higher", values[:, 0], values[:, 1:])
        now += v.better_than_random
        if v.p_value <= 0.05:
            paired = v.scores - v.random_scores.mean(axis=1)
            before += bootstrap(lambda chosen, d=paired: d[chosen].mean(axis=1), indices(texts, texts, 0))[0] > 0  # type: ignore[misc]
    assert now <= before
