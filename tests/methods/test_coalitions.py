"""Coalitions: every one once, drawn ones without replacement, in the right shares, with the right weights."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import set_games
from assay.methods.input_features.coalitions import _whole_numbers, draw, every, shapley


def test_every_coalition_once() -> None:
    assert every(3).tolist() == set_games.every(3).tolist()
    assert len(np.unique(every(7), axis=0)) == 128


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_shapley_values_from_the_definition(n: int) -> None:
    values = np.random.default_rng(n).normal(size=2**n)
    np.testing.assert_allclose(shapley(values), set_games.by_orders(set_games.table(values), n), atol=1e-12)


@settings(max_examples=60)
@given(st.integers(4, 40), st.integers(5, 300), st.integers(0, 99))
def test_drawn_without_replacement_and_never_both_of_a_pair(n: int, pairs: int, seed: int) -> None:
    pairs = min(pairs, 2 ** (n - 1) - 1)
    keep, weights = draw(n, pairs, np.random.default_rng(seed))
    assert keep.shape == (pairs, n)
    assert weights.shape == (pairs,)
    assert (weights > 0).all()
    both = {row.tobytes() for row in keep} | {row.tobytes() for row in ~keep}
    assert len(both) == 2 * pairs
    assert 1 <= keep.sum(axis=1).min() <= keep.sum(axis=1).max() <= n // 2


def test_small_sizes_are_taken_whole() -> None:
    keep, _ = draw(12, 400, np.random.default_rng(0))
    counts = np.bincount(keep.sum(axis=1))[1:]
    assert counts[:2].tolist() == [12, 66]
    assert (counts[2:] < [220, 495, 792, 462]).all()


@pytest.mark.parametrize("n", [11, 12])
def test_all_pairs_have_the_weights_of_the_shapley_kernel(n: int) -> None:
    keep, weights = draw(n, 2 ** (n - 1) - 1, np.random.default_rng(0))
    kernel = [1 / (comb(n, s) * s * (n - s)) for s in keep.sum(axis=1).tolist()]
    np.testing.assert_allclose(weights / weights.sum(), np.array(kernel) / np.sum(kernel), atol=1e-12)


@pytest.mark.parametrize(("n", "pairs"), [(12, 60), (200, 40)])
def test_weighted_means_are_those_of_the_kernel(n: int, pairs: int) -> None:
    """Over many draws: the mean share of pairs of two given words, which depends on the sizes alone."""
    means: list[Any] = []
    for seed in range(400):
        keep, weights = draw(n, pairs, np.random.default_rng(seed))
        together = np.where(keep[:, 0] == keep[:, 1], 1.0, -1.0)
        means.append((weights @ together, weights.sum()))
    sizes = np.arange(1, n)
    kernel = 1 / (sizes * (n - sizes))
    alike = 1 - 4 * sizes * (n - sizes) / (n * (n - 1))
    top, bottom = np.mean(means, axis=0)
    error = np.std([a - b * top / bottom for a, b in means]) / np.sqrt(len(means)) / bottom
    assert top / bottom == pytest.approx(kernel @ alike / kernel.sum(), abs=4 * error)
    assert bottom == pytest.approx(kernel.sum() / 2, rel=0.02)


def test_every_word_is_as_likely_as_another() -> None:
    counts = np.zeros(13)
    for seed in range(300):
        keep, _ = draw(13, 20, np.random.default_rng(seed))
        counts += np.where(keep, 1, -1).sum(axis=0)
    assert np.abs(counts - counts.mean()).max() < 4.5 * np.sqrt(300 * 20)


class Told:
    """A generator whose next number is known."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self) -> float:
        return self.number


def test_a_size_that_is_taken_whole_is_not_asked_for_more() -> None:
    """0.7 + 0.1 + 0.1 + 0.1 is less than 1 in binary; the last size has five coalitions, not six."""
    quota = np.array([0.7, 0.1, 0.1, 0.1, 5.0])
    for number in (0.0, 0.5, 1 - 2**-53):
        counts = _whole_numbers(quota, 6, Told(number))  # type: ignore[arg-type]
        assert counts[-1] == 5
        assert counts.sum() == 6


@settings(max_examples=30)
@given(st.lists(st.floats(0.05, 6), min_size=1, max_size=6))
def test_whole_numbers_are_next_to_their_quotas_and_have_them_as_mean(parts: list[float]) -> None:
    quota = np.array([*parts, np.ceil(sum(parts)) + 1 - sum(parts)])
    pairs = round(quota.sum())
    drawn = np.array([_whole_numbers(quota, pairs, Told((i + 0.5) / 400)) for i in range(400)])  # type: ignore[arg-type]
    assert (drawn.sum(axis=1) == pairs).all()
    assert (np.abs(drawn - quota) < 1 + 1e-6).all()
    np.testing.assert_allclose(drawn.mean(axis=0), quota, atol=0.01)
