"""F1, accuracy and their intervals against scikit-learn and slow bootstraps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from assay.statistics import resampling
from assay.statistics.intervals import mean_over_seeds
from assay.statistics.scoring import Scored


def drawn(labels: int, seeds: int, n: int = 150, right: float = 0.7) -> Scored:
    rng = np.random.default_rng(labels * 10 + seeds)
    gold = rng.integers(labels, size=n)
    said = np.where(rng.random((seeds, n)) < right, gold, rng.integers(labels, size=(seeds, n)))
    return Scored(tuple("abcd"[:labels]), gold, said)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("seeds", [1, 3])
def test_scores_are_those_of_scikit_learn(labels: int, seeds: int) -> None:
    one = drawn(labels, seeds)
    kind: dict[str, Any] = {"pos_label": 1} if labels == 2 else {"average": "macro"}
    f1 = [f1_score(one.gold, said, **kind) for said in one.said]
    assert one.f1_by_seed == pytest.approx(f1)
    assert one.f1.value == pytest.approx(np.mean(f1))
    assert one.accuracy.value == pytest.approx(np.mean([accuracy_score(one.gold, said) for said in one.said]))
    assert one.f1.low < one.f1.value < one.f1.high


def test_the_interval_is_that_of_a_slow_bootstrap() -> None:
    one, other = drawn(2, 2), drawn(2, 2, right=0.5)
    other = Scored(one.labels, one.gold, other.said)
    rng, gaps = np.random.default_rng(5), []
    for _ in range(2000):
        texts, seeds = rng.integers(150, size=150), rng.integers(2, size=2)
        f1 = [[_f1(one.gold[texts], m.said[s][texts]) for s in seeds] for m in (one, other)]
        gaps.append(np.mean(f1[0]) - np.mean(f1[1]))
    found = one.above(other)
    assert (found.low, found.high) == pytest.approx(np.quantile(gaps, [0.025, 0.975]), abs=0.02)
    assert found.value == pytest.approx(one.f1.value - other.f1.value)


def _f1(gold: Any, said: Any) -> float:
    precision, recall = gold[said == 1].mean(), said[gold == 1].mean()
    return float(2 * precision * recall / (precision + recall))


def test_a_label_that_nobody_says_has_an_f1_of_zero() -> None:
    one = Scored(("a", "b"), np.array([0, 0, 0, 0]), np.array([[0, 0, 0, 0]]))
    assert (one.f1.value, one.accuracy.value) == (0.0, 1.0)


def test_seeds_widen_the_interval() -> None:
    table = np.array([[0.0] * 50, [1.0] * 50])
    found = mean_over_seeds(table)
    assert (found.value, found.low, found.high) == (0.5, 0.0, 1.0)
    assert mean_over_seeds(table[0]).high == 0.0


def test_a_sure_difference_has_a_sign() -> None:
    good, bad = drawn(2, 1, right=0.95), drawn(2, 1, right=0.1)
    bad = Scored(good.labels, good.gold, bad.said)
    assert (good.above(bad).sign, bad.above(good).sign, good.above(good).sign) == (1, -1, 0)


def test_scores_go_there_and_back() -> None:
    one = drawn(3, 2)
    again = Scored.from_dict(one.to_dict())
    assert again.f1 == one.f1
    assert again.labels == one.labels


@pytest.mark.parametrize(("seeds", "total"), [(3, 2000), (0, 4000)])
def test_kept_resamples_are_those_that_are_drawn(seeds: int, total: int) -> None:
    for _ in range(2):
        found = 0
        for kept, drawn in zip(resampling.resamples(90, seeds), resampling._drawn(90, seeds), strict=True):
            assert np.array_equal(kept.counts, drawn.counts)
            assert np.array_equal(kept.seeds, drawn.seeds)
            found += len(drawn.counts)
        assert found == total
