"""Divergences on cases computed by hand, against scipy, and at their ends."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from assay.questions.answers import Predictions, changes
from assay.statistics.divergence import MOST, distribution, entropy, jsd, tvd

scores = st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=9)


def test_by_hand() -> None:
    p, q = np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.25, 0.5])
    assert tvd(p, q) == pytest.approx(0.5)
    # m = (3/8, 3/8, 1/4): KL(p||m) = ln(4/3), KL(q||m) = 1/2 ln(2/3) + 1/2 ln 2 = 1/2 ln(4/3)
    assert jsd(p, q) == pytest.approx(0.75 * log(4 / 3))
    assert entropy(p) == pytest.approx(log(2))
    assert entropy(q) == pytest.approx(1.5 * log(2))


def test_ends() -> None:
    one, other = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert jsd(one, other) == MOST == log(2)
    assert tvd(one, other) == 1
    assert jsd(one, one) == tvd(one, one) == entropy(one) == 0
    assert jsd(np.array([1.0]), np.array([1.0])) == 0


def test_rows_at_once() -> None:
    table = np.array([[0.2, 0.8], [1.0, 0.0], [0.5, 0.5]])
    assert jsd(table, table[:1]).tolist() == [jsd(row, table[0]) for row in table]
    assert tvd(table, table[:1]) == pytest.approx([0, 0.8, 0.3])


@given(scores, scores)
def test_against_scipy(a: list[float], b: list[float]) -> None:
    n = min(len(a), len(b))
    p, q = distribution(np.array(a[:n])), distribution(np.array(b[:n]))
    assert p.sum() == pytest.approx(1)
    assert 0 <= jsd(p, q) <= log(2)
    assert jsd(p, q) == pytest.approx(jensenshannon(p, q) ** 2, abs=1e-9)
    assert jsd(p, q) == pytest.approx(float(jsd(q, p)), abs=1e-12)


def test_a_distribution_of_anything() -> None:
    assert distribution(np.array([-1.0, 3.0])).tolist() == [0.25, 0.75]
    assert distribution(np.zeros(4)).tolist() == [0.25] * 4
    assert distribution(np.array([1e308, 1e308, 0])).tolist() == [0.5, 0.5, 0]
    assert distribution(np.array([5e-324, 0])).tolist() == [1, 0]
    assert distribution(np.array([[0.0, 0.0], [2.0, 0.0]])).tolist() == [[0.5, 0.5], [1, 0]]


def test_changes_of_answers() -> None:
    logits = np.log([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.7, 0.1, 0.2]])
    answers = Predictions(logits)
    assert changes(answers, answers[:1]) == pytest.approx([0, 0.6, 0.1])
    # Two labels: the change of the probability of either.
    two = Predictions(np.log([[0.3, 0.7], [0.45, 0.55]]))
    assert changes(two[1:], two[:1]) == pytest.approx([0.15])
    # Labels that may all hold: the mean over labels, as in the released code.
    several = Predictions(np.array([[0.0, 0.0], [log(3), 0.0]]), multi_label=True)
    assert changes(several[1:], several[:1]) == pytest.approx([0.125])
