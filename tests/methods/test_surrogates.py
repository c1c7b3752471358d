"""Small models fitted around a text: against slow solvers, and the rule that calls an order certain, by hand."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from assay.methods.input_features.surrogates import Surrogate, l1_logistic, ridge


def fitted(weights: list[float], pulls: Any, free: list[float] | None = None) -> Surrogate:
    return Surrogate(np.array(weights), 0.0, 1.0, np.array(weights if free is None else free), np.array(pulls))


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_neighbours_are_certain_from_the_difference_on_that_would_hold_again(k: int, confidence: float) -> None:
    """Old and new samples both have an error, hence the root of two; k places share what may go wrong."""
    error = 0.01
    needed = np.sqrt(2) * norm.ppf(1 - (1 - confidence) / k) * error
    for factor, certain in ((1.01, True), (0.99, False)):
        fit = fitted([1.0, 1.0 - factor * needed], [[error, 0.0], [0.0, 0.0]])
        assert fit.settled(k, confidence) == (min(k, 2) if certain else 0)


def test_equal_weights_have_no_order_even_without_an_error() -> None:
    assert fitted([1.0, 1.0], np.zeros((3, 2))).settled(2) == 0
    assert fitted([1.0, 1.0 - 1e-12], np.zeros((3, 2))).settled(2) == 0
    assert fitted([1.0, -1.0 + 1e-6], np.zeros((3, 2))).settled(2) == 2


def test_errors_of_weights_of_one_sign_cancel_whatever_their_size() -> None:
    assert fitted([1.2, 0.8], np.full((4, 2), 0.05)).settled(2) == 2
    assert fitted([1.2, -0.8], np.full((4, 2), 0.05)).settled(2) == 0


def test_certain_places_are_counted_from_the_first() -> None:
    assert fitted([4.0, 3.0, 3.0, 1.0], np.zeros((3, 4))).settled(4) == 1
    assert fitted([1.0, 3.0, 4.0, 3.0], np.zeros((3, 4))).settled(1) == 1
    assert fitted([4.0, 3.0, 0.0, 0.0], np.zeros((3, 4))).settled(4) == 2, "a weight of zero has no place"
    assert fitted([0.0, 0.0], np.zeros((3, 2))).settled(2) == 0


def test_an_interval_holds_the_error_and_what_the_penalty_took() -> None:
    fit = fitted([2.0, -1.0], [[0.3, 0.0], [0.4, 0.1]], free=[2.5, -1.0])
    np.testing.assert_allclose(fit.errors, [0.5, 0.1])
    z = norm.ppf(0.975)
    np.testing.assert_allclose(fit.intervals(), [[2 - 0.5 * z - 0.5, 2 + 0.5 * z + 0.5], [-1 - 0.1 * z, -1 + 0.1 * z]])
    wide = np.diff(fit.intervals(0.99)) - np.diff(fit.intervals())
    np.testing.assert_allclose(wide[:, 0], 2 * (norm.ppf(0.995) - z) * fit.errors)


def samples(n: int, features: int, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    kept = rng.random((n, features)) < 0.6
    kept[0] = True
    return kept, rng.normal(size=n) + kept @ rng.normal(size=features), rng.random(n) + 0.1


@pytest.mark.parametrize(("n", "features"), [(40, 5), (4, 9)])
@pytest.mark.parametrize("penalty", [1.0, 0.05])
def test_ridge_is_the_least_sum_of_squares(n: int, features: int, penalty: float) -> None:
    kept, y, pi = samples(n, features, 1)
    z = np.column_stack([kept, np.ones(n)])
    shrink = penalty * np.diag([1.0] * features + [0.0])
    expected = np.linalg.solve(z.T @ (pi[:, None] * z) + shrink, z.T @ (pi * y))
    fit = ridge(kept, y, pi, penalty)
    np.testing.assert_allclose([*fit.weights, fit.intercept], expected, atol=1e-8)
    mean = np.average(y, weights=pi)
    left = np.average((y - z @ expected) ** 2, weights=pi)
    assert fit.r2 == pytest.approx(1 - left / np.average((y - mean) ** 2, weights=pi))
    if n > features:
        np.testing.assert_allclose(
            fit.free, np.linalg.lstsq(z * np.sqrt(pi)[:, None], y * np.sqrt(pi))[0][:-1], atol=1e-8
        )


def test_the_pulls_are_those_of_the_jackknife() -> None:
    """Without a penalty, as in HC3: by how much each weight moves when one sample is left out."""
    kept, y, pi = samples(30, 4, 2)
    z, root = np.column_stack([kept, np.ones(30)]), np.sqrt(pi)
    whole = np.linalg.lstsq(z * root[:, None], y * root)[0]
    moves = []
    for i in range(30):
        rest = np.arange(30) != i
        moves.append(whole - np.linalg.lstsq((z * root[:, None])[rest], (y * root)[rest])[0])
    fit = ridge(kept, y, pi, penalty=1e-12)
    np.testing.assert_allclose(fit.pulls, np.array(moves)[:, :-1], atol=1e-8)


@pytest.mark.parametrize("penalty", [1.0, 0.2])
def test_the_lasso_is_the_least_sum(penalty: float) -> None:
    kept, y, pi = samples(50, 4, 3)
    chance = expit(y)

    def loss(x: Any) -> float:
        up, down = x[:4], x[4:8]
        score = kept @ (up - down) + x[8]
        return float(pi @ (np.logaddexp(0, score) - chance * score) + penalty * (up + down).sum())

    found = minimize(loss, np.zeros(9), bounds=[(0, None)] * 8 + [(None, None)], method="L-BFGS-B", tol=1e-14).x
    fit = l1_logistic(kept, chance, pi, penalty)
    np.testing.assert_allclose([*fit.weights, fit.intercept], [*(found[:4] - found[4:8]), found[8]], atol=2e-4)
    assert (
        loss(np.concatenate([np.maximum(fit.weights, 0), np.maximum(-fit.weights, 0), [fit.intercept]]))
        <= loss(found) + 1e-9
    )


def test_a_strong_penalty_leaves_exact_zeros_and_the_mean() -> None:
    kept, y, pi = samples(50, 4, 3)
    fit = l1_logistic(kept, expit(y), pi, 1e3)
    assert fit.weights.tolist() == [0.0] * 4
    assert expit(fit.intercept) == pytest.approx(np.average(expit(y), weights=pi), abs=1e-6)
    assert fit.r2 == pytest.approx(0, abs=1e-6)


def test_a_constant_is_explained_wholly() -> None:
    kept = np.array(list(product([False, True], repeat=3)))
    fit = ridge(kept, np.full(8, 2.0), np.ones(8))
    np.testing.assert_allclose(fit.weights, 0, atol=1e-12)
    assert (fit.r2, fit.intercept) == (1.0, pytest.approx(2.0))


def test_a_feature_that_never_changes_gets_nothing() -> None:
    kept, y, pi = samples(30, 4, 5)
    kept[:, 2] = True
    fit = ridge(kept, y, pi, penalty=0.0)
    assert fit.weights[2] == pytest.approx(0, abs=1e-9)
    assert np.isfinite(fit.pulls).all()
