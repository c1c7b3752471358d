"""Rank correlations against counted pairs and against scipy, and what is said where they are not defined."""

from __future__ import annotations

from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from assay.statistics.ranks import kendall, overlap, spearman

pairs_of_scores = st.integers(2, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-4, 4).map(float), min_size=n, max_size=n)] * 2)
)


def counted_tau(a: np.ndarray, b: np.ndarray) -> float:
    """Tau-b from its definition: every pair of words is looked at."""
    products = [(np.sign(a[i] - a[j]), np.sign(b[i] - b[j])) for i, j in combinations(range(len(a)), 2)]
    untied_a, untied_b = (sum(pair[k] != 0 for pair in products) for k in (0, 1))
    return float(sum(x * y for x, y in products) / sqrt(untied_a * untied_b))


@given(pairs_of_scores)
def test_against_counted_pairs(scores: tuple[list[float], list[float]]) -> None:
    a, b = map(np.array, scores)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        both = float(np.ptp(a) == np.ptp(b) == 0)
        assert kendall(a, b) == (both, 1.0)
        assert spearman(a, b) == both
    else:
        assert kendall(a, b).value == pytest.approx(counted_tau(a, b), abs=1e-9)
        assert spearman(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-9)


def test_rounding_orders_no_words() -> None:
    a = np.array([1.0, 0.5, 0.5 + 1e-9, 0.0])
    assert spearman(a, np.array([1.0, 0.5, 0.5, 0.0])) == pytest.approx(1.0)
    assert kendall(np.array([0.1, 0.1 + 1e-12, 0.1 + 2e-12]), np.arange(3.0)).value == 0.0


def test_tiny_scores_have_an_order_too() -> None:
    assert spearman(np.arange(4) * 1e-30, np.arange(4.0)) == pytest.approx(1.0)
    assert spearman(np.arange(4) * 5e-324, np.arange(4.0)) == 0.0  # below what can be divided: as good as zero


def test_overlap_of_the_first_words() -> None:
    a, b = np.array([3.0, 2, 1, 0, -1]), np.array([0.0, 2, 3, 1, -1])
    assert overlap(a, b, 1) == 0
    assert overlap(a, b, 2) == 0.5
    assert overlap(a, b, 3) == pytest.approx(2 / 3)
    assert overlap(a, b, 50) == 1
