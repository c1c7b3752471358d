"""Crawford-Ferguson rotations: beside statsmodels, beside the double sums of their definition, and on a planted one."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from assay.statistics.factor_rotation import Criterion, crawford_ferguson, kappa, rotated

RNG = np.random.default_rng(0)
LOADINGS = RNG.normal(size=(30, 4)) * np.array([2.0, 1.5, 1.0, 0.5])


def simple_structure(words: int = 60, dimensions: int = 5) -> np.ndarray:
    """Every word has much of one dimension and little of the others."""
    found = RNG.normal(size=(words, dimensions)) * 0.05
    found[np.arange(words), np.arange(words) % dimensions] = RNG.uniform(0.5, 2, size=words)
    return found


@pytest.mark.parametrize("weight", [0.0, 0.2, 1.0])
def test_the_complexity_is_the_double_sum_of_its_definition(weight: float) -> None:
    squares = LOADINGS**2
    p, k = squares.shape
    rows = sum(squares[i, j] * squares[i, m] for i in range(p) for j in range(k) for m in range(k) if j != m)
    columns = sum(squares[i, j] * squares[m, j] for j in range(k) for i in range(p) for m in range(p) if i != m)
    value, slope = crawford_ferguson(LOADINGS, weight)
    assert value == pytest.approx((1 - weight) / 4 * rows + weight / 4 * columns)
    moved = LOADINGS.copy()
    moved[3, 2] += 1e-6
    assert (crawford_ferguson(moved, weight)[0] - value) / 1e-6 == pytest.approx(slope[3, 2], rel=1e-3)


@pytest.mark.parametrize("criterion", get_args(Criterion))
def test_as_statsmodels(criterion: Criterion) -> None:
    rotation = pytest.importorskip("statsmodels.multivariate.factor_rotation")
    weight = kappa(criterion, *LOADINGS.shape)
    theirs, _ = rotation.rotate_factors(LOADINGS, "CF", weight, "orthogonal", algorithm="gpa", max_tries=400, tol=1e-5)
    ours = rotated(LOADINGS, criterion, tolerance=1e-6 if criterion != "parsimony" else 1e-4)  # its sums are larger
    assert ours.converged
    np.testing.assert_allclose(ours.loadings, theirs, atol=1e-2 if criterion == "parsimony" else 1e-4)
    assert ours.after == pytest.approx(crawford_ferguson(theirs, weight)[0])
    assert ours.after < ours.before == pytest.approx(crawford_ferguson(LOADINGS, weight)[0])


def test_the_rotation_is_orthogonal_and_makes_the_loadings() -> None:
    found = rotated(LOADINGS, "varimax")
    np.testing.assert_allclose(found.rotation.T @ found.rotation, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(LOADINGS @ found.rotation, found.loadings)


@pytest.mark.parametrize("criterion", ["quartimax", "varimax", "parsimax"])
def test_a_planted_rotation_is_recovered_up_to_sign_and_order(criterion: Criterion) -> None:
    planted = simple_structure()
    mixed, _ = np.linalg.qr(RNG.normal(size=(5, 5)))
    found = rotated(planted @ mixed.T, criterion).loadings
    likeness = np.abs(np.corrcoef(found.T, planted.T)[:5, 5:])
    assert sorted(likeness.argmax(axis=1)) == [0, 1, 2, 3, 4]
    assert likeness.max(axis=1).min() > 0.99


def test_a_search_that_is_cut_short_says_so() -> None:
    assert not rotated(LOADINGS, "varimax", most=1).converged
