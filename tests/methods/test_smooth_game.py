"""The smooth game against slow sums over all interactions, written from the equations."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import set_games
from assay.methods.input_features import smooth_game
from assay.methods.input_features.coalitions import draw

N = 6
LENGTHS = np.array([0.1, 0.5, 0.3, 0.05, 0.8, 0.4])
RATIO = 0.7


def interactions() -> list[tuple[int, ...]]:
    return [words for size in (3, 5) for words in combinations(range(N), size)]


def products(z: Any) -> Any:
    return np.array([z[:, list(words)].prod(axis=1) for words in interactions()]).T


def priors() -> Any:
    """The variance of each interaction, so that k(z, z) = 1."""
    raw = np.array([LENGTHS[list(words)].prod() for words in interactions()])
    return raw / raw.sum()


def data(pairs: int = 20) -> tuple[Any, Any, Any]:
    game = set_games.network(N, 4)
    some, _ = draw(N, pairs, np.random.default_rng(0))
    keep = np.concatenate([np.ones((1, N), dtype=bool), some])
    return some, np.where(keep, 1.0, -1.0), game(keep) - game(~keep)


def test_the_kernel_is_the_sum_over_interactions() -> None:
    _, z, _ = data()
    slow = (products(z) * priors()) @ products(z).T
    np.testing.assert_allclose(smooth_game._kernel(z, z, LENGTHS), slow, atol=1e-12)


def posterior() -> tuple[Any, Any, Any]:
    """Mean and covariance of all coefficients by the textbook, and the map from them to Shapley values."""
    _, z, y = data()
    design, prior = np.column_stack([z, products(z)]), np.concatenate([np.full(N, RATIO), priors()])
    noise = np.diag(np.r_[0.0, np.full(len(y) - 1, smooth_game._NUGGET)])
    covariance = design * prior @ design.T + noise
    gain = (prior[:, None] * design.T) @ np.linalg.inv(covariance)
    scale = y @ np.linalg.solve(covariance, y) / len(y)
    share = np.array([[(i in words) / len(words) for words in interactions()] for i in range(N)])
    return gain @ y, scale * (np.diag(prior) - gain @ design * prior), np.column_stack([np.eye(N), share])


def test_values_and_errors_are_the_posteriors() -> None:
    _, z, y = data()
    game = smooth_game._Game(z, y, smooth_game._Setting(LENGTHS, RATIO))
    mean, covariance, share = posterior()
    np.testing.assert_allclose(game.values, share @ mean, atol=1e-9)
    np.testing.assert_allclose(game.errors, np.sqrt(np.diag(share @ covariance @ share.T)), atol=1e-7)


def test_the_values_are_shapley_values_of_the_fitted_game() -> None:
    _, z, y = data()
    mean, _, _ = posterior()
    half = lambda keep: np.column_stack([s := np.where(keep, 1.0, -1.0), products(s)]) @ mean / 2  # noqa: E731
    game = smooth_game._Game(z, y, smooth_game._Setting(LENGTHS, RATIO))
    np.testing.assert_allclose(game.values, set_games.by_orders(half, N), atol=1e-9)


def test_the_evidence_is_the_likelihood_at_the_best_scale() -> None:
    _, z, y = data()
    found, setting = smooth_game._judged(z, y, LENGTHS)
    slow = {}
    for ratio in smooth_game._RATIOS[smooth_game._RATIOS < 1e5]:  # beyond, the slow way is singular
        kernel = smooth_game._kernel(z, z, LENGTHS) + smooth_game._NUGGET * np.eye(len(y)) + ratio * z @ z.T
        scale = y @ np.linalg.solve(kernel, y) / len(y)
        slow[ratio] = multivariate_normal.logpdf(y, cov=scale * kernel) - np.log(1 + ratio)
    assert setting.ratio == max(slow, key=lambda ratio: slow[ratio])
    constant = len(y) / 2 * (np.log(len(y)) - 1 - np.log(2 * np.pi))
    assert found + constant == pytest.approx(max(slow.values()), abs=1e-6)


@pytest.mark.parametrize("n", [25, 60])
def test_long_texts_are_integrated_as_well_as_short_ones(n: int) -> None:
    """The rule has 16 nodes; with 80 it gives the same values, where the reach is longest."""
    rng = np.random.default_rng(n)
    z = np.where(rng.random((30, n)) < 0.5, 1.0, -1.0)
    setting = smooth_game._Setting(smooth_game._lengths(rng.random(n), 16.0), 1.0)
    few = smooth_game._parts(z, setting.lengths)
    nodes, weights = np.polynomial.legendre.leggauss(80)
    slopes, (scale, _) = z * setting.lengths, smooth_game._constants(setting.lengths)
    factors = 1 + nodes[:, None, None] * slopes
    many = np.tensordot(weights / 2, factors.prod(axis=2, keepdims=True) / factors, axes=1) - 1
    np.testing.assert_allclose(few, scale * slopes * many, atol=1e-6)


@pytest.mark.parametrize(("matter", "alike"), [(3, False), (12, True)])
def test_words_that_matter_may_interact_more(matter: int, alike: bool) -> None:
    """Where three of twelve words do everything, the lengths follow them; where all do their part, they are alike."""
    weights = np.where(np.arange(12) < matter, 0.5, 0.005) * np.tile([1, -1], 6)
    z = smooth_game._signs(smooth_game.design(12, 100, np.random.default_rng(0)))
    lengths = smooth_game._chosen(z, np.tanh(z @ weights)).lengths
    assert (np.ptp(lengths) < 1e-12) == alike
    assert alike or lengths[:3].min() > 3 * lengths[3:].max()


def test_scale_does_not_matter() -> None:
    keep, _, y = data()
    for factor in (1e-9, 1e9):
        values, errors = smooth_game.fit(keep, factor * y[1:], factor * y[0])
        plain, plainly = smooth_game.fit(keep, y[1:], y[0])
        np.testing.assert_allclose(values / factor, plain, rtol=1e-9)
        np.testing.assert_allclose(errors / factor, plainly, rtol=1e-6)


def test_rounding_of_the_model_hardly_moves_the_fit() -> None:
    game = set_games.network(14, 0)
    some = smooth_game.design(14, 200, np.random.default_rng(1))
    y, change = game(some) - game(~some), 2.0
    shaken = y + 1e-7 * np.random.default_rng(2).normal(size=len(y))
    np.testing.assert_allclose(smooth_game.fit(some, shaken, change)[0], smooth_game.fit(some, y, change)[0], atol=1e-6)


@pytest.mark.parametrize(("n", "pairs"), [(4, 7), (5, 14), (11, 100), (12, 255), (30, 255), (70, 100)])
def test_the_design_asks_nothing_twice(n: int, pairs: int) -> None:
    keep = smooth_game.design(n, pairs, np.random.default_rng(0))
    assert keep.shape == (pairs, n)
    assert len({row.tobytes() for row in (*keep, *~keep)}) == 2 * pairs
    assert 0 < keep.sum(axis=1).min() <= keep.sum(axis=1).max() < n


def left(keep: Any) -> float:
    """How much of the variance of the Shapley values is left when these are known: half smooth, half rough, rho 1."""
    n = keep.shape[1]
    signs = smooth_game._signs(keep)
    both = [smooth_game._lengths(np.ones(n), reach) for reach in (smooth_game._USUAL, smooth_game._ROUGH)]
    games = [smooth_game._Game(signs, signs[:, 0], smooth_game._Setting(lengths, 1.0)) for lengths in both]
    kernel = np.mean([smooth_game._kernel(signs, signs, lengths) for lengths in both], axis=0) + signs @ signs.T
    tells = np.mean([smooth_game._parts(signs, lengths) for lengths in both], axis=0) + signs
    prior = np.mean([game._prior for game in games], axis=0) + 1
    return float(
        prior.sum() - np.trace(tells.T @ np.linalg.solve(kernel + smooth_game._NUGGET * np.eye(len(kernel)), tells))
    )


def test_the_design_takes_most_of_the_variance_at_each_step() -> None:
    n, pairs = 7, 12
    chosen = smooth_game._design(n, pairs)
    pool, _ = draw(n, 4 * pairs, np.random.default_rng(n))
    for step in range(pairs):
        best = min(left(np.concatenate([chosen[:step], row[None]])) for row in pool)
        assert left(chosen[: step + 1]) == pytest.approx(best, rel=1e-6)
    drawn, _ = draw(n, pairs, np.random.default_rng(0))
    assert left(chosen) < 0.9 * left(drawn)


def test_each_text_has_its_own_shuffle() -> None:
    one, same, other = (smooth_game.design(12, 50, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_a_difference_of_nothing_is_a_fact_like_others() -> None:
    """A pair of coalitions that differ by nothing does not make the whole game nothing."""
    keep, _ = draw(N, 20, np.random.default_rng(0))
    weights = np.array([1.0, -1.0, 2.0, 2.0, 0.0, 4.0])
    differences = np.where(keep, 1.0, -1.0) @ weights
    assert (differences == 0).any()
    values, _ = smooth_game.fit(keep, differences, float(weights.sum()))
    np.testing.assert_allclose(values, weights, atol=1e-3)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_values_and_errors_go_with_the_unit(scale: float) -> None:
    keep, _, y = data()
    values, errors = smooth_game.fit(keep, y[1:], float(y[0]))
    larger, wider = smooth_game.fit(keep, scale * y[1:], float(scale * y[0]))
    np.testing.assert_allclose(larger, scale * values, rtol=1e-6)
    np.testing.assert_allclose(wider, scale * errors, rtol=1e-6)
    assert values.sum() == pytest.approx(y[0])
