"""Accuracies of models that differ in their seed: against scipy's t-tests, and the floor of one text."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.statistics.accuracies import (
    Retrained,
    RetrainedVerdict,
    interval,
    interval_of_difference,
    one_more,
    spread,
    welch,
)

ONE = np.array([0.81, 0.84, 0.80, 0.86, 0.83])
OTHER = np.array([0.88, 0.87, 0.91])
MANY = 10_000  # texts, so that a spread is never below one text


def test_a_spread_is_at_least_one_text() -> None:
    assert spread(ONE, MANY) == pytest.approx(np.std(ONE, ddof=1))
    assert spread(np.array([0.5, 0.5]), 50) == pytest.approx(1 / 50)
    assert spread(ONE, 10) == pytest.approx(0.1)


def test_the_interval_of_a_mean_is_students() -> None:
    expected = stats.t.interval(0.95, len(ONE) - 1, ONE.mean(), stats.sem(ONE))
    assert interval(ONE, MANY) == pytest.approx(expected)
    assert interval(np.array([0.99, 1.0, 0.9]), MANY)[1] == 1.0
    assert interval(np.array([0.01, 0.0, 0.1]), MANY)[0] == 0.0


def test_the_interval_of_a_difference_is_welchs() -> None:
    found = stats.ttest_ind(ONE, OTHER, equal_var=False)
    expected = found.confidence_interval(0.95)
    assert interval_of_difference(ONE, OTHER, MANY) == pytest.approx((expected.low, expected.high))
    assert welch(ONE, OTHER, MANY) == pytest.approx(found.pvalue)
    assert welch(ONE, OTHER, MANY, "less") == pytest.approx(
        stats.ttest_ind(ONE, OTHER, equal_var=False, alternative="less").pvalue
    )


def test_one_more_of_the_random_ones() -> None:
    """The prediction interval of one more value: its edge has the chance that it is made for."""
    half = stats.t.ppf(0.9, len(ONE) - 1) * np.std(ONE, ddof=1) * np.sqrt(1 + 1 / len(ONE))
    assert one_more(float(ONE.mean() - half), ONE, MANY) == pytest.approx(0.1)
    assert one_more(float(ONE.mean()), ONE, MANY) == pytest.approx(0.5)


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_the_verdict_takes_the_larger_of_both_chances(better: str) -> None:
    def made(scores: np.ndarray, random: np.ndarray) -> RetrainedVerdict:
        table = np.column_stack([random, np.full(len(random), 0.5)])  # only the first column counts
        return RetrainedVerdict("m", "roar", better, scores, table, share=0.3, texts=MANY)  # type: ignore[arg-type]

    v = made(ONE, OTHER)
    down = max(welch(ONE, OTHER, MANY, "less"), one_more(float(ONE.mean()), OTHER, MANY))
    up = max(welch(-ONE, -OTHER, MANY, "less"), one_more(float(-ONE.mean()), -OTHER, MANY))
    assert (v.p_value, v.p_worse) == pytest.approx((down, up) if better == "lower" else (up, down))
    assert v.interval == pytest.approx(interval_of_difference(ONE, OTHER, MANY))
    some = made(np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.5]))  # of six pairs four are higher, and one is even
    assert some.ahead == (0.75 if better == "higher" else 0.25)
    told = v.to_dict()
    assert (told["share"], told["texts"], told["models"], told["draws"]) == (0.3, MANY, 5, 1)
    assert told["random_scores"] == OTHER.tolist()


def test_models_of_one_share() -> None:
    given = np.array([0.5, 0.7])
    models = Retrained("m", 0.1, given)
    given[0] = 0
    assert models.mean == pytest.approx(0.6)
    with pytest.raises(ValueError, match="read-only"):
        models.accuracies[0] = 1
