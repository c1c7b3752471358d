"""Bounds against a root finder, LUCB against a plain loop, promises against many games with known coins."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from assay.methods.input_features.bandits import (
    Contest,
    Game,
    Tally,
    beta,
    contest,
    divergence,
    interval,
    lower,
    lucb,
    passing,
    upper,
    wanted,
)


def kl(p: float, q: float) -> float:
    """The divergence, term by term."""
    return sum(a * log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)


def root(p: float, level: float, end: float) -> float:
    """Where the divergence from p reaches the level, on the way to the end (0 or 1)."""
    edge = abs(end - 1e-15)
    if abs(p - end) < 1e-12 or kl(p, edge) <= level:
        return end
    return float(brentq(lambda q: kl(p, q) - level, p, edge, xtol=1e-14))


@pytest.mark.parametrize("p", [0.0, 1e-4, 0.07, 0.5, 0.93, 0.999, 1.0])
@pytest.mark.parametrize("level", [1e-6, 1e-3, 0.05, 0.7, 3.0])
def test_bounds_against_a_root_finder(p: float, level: float) -> None:
    ps, levels = np.array([p]), np.array([level])
    assert upper(ps, levels)[0] == pytest.approx(root(p, level, 1.0), abs=1e-8)
    assert lower(ps, levels)[0] == pytest.approx(root(p, level, 0.0), abs=1e-8)


def test_bounds_of_sure_coins_are_closed_forms() -> None:
    level = np.array([0.1, 1.0, 4.0])
    np.testing.assert_allclose(upper(np.zeros(3), level), 1 - np.exp(-level), atol=1e-8)
    np.testing.assert_allclose(lower(np.ones(3), level), np.exp(-level), atol=1e-8)


def test_bounds_err_on_the_outer_side() -> None:
    p, level = np.linspace(0.05, 0.95, 19), np.full(19, 0.02)
    assert (divergence(p, upper(p, level)) >= level).all()
    assert (divergence(p, lower(p, level)) >= level).all()


def test_beta_by_hand() -> None:
    x = log(405.5 * 20 * 7**1.1 / 0.1)
    assert beta(20, 7, 0.1) == pytest.approx(x + log(x), rel=1e-12)


def slow_contest(hits: Sequence[int], counts: Sequence[int], top: int, reach: float) -> Contest:
    """The same by loops, a root finder and Python's own sorting."""
    means = [h / n for h, n in zip(hits, counts, strict=True)]
    order = sorted(range(len(means)), key=lambda a: (-means[a], a))
    lows = {a: root(means[a], reach / counts[a], 0.0) for a in order[:top]}
    highs = {a: root(means[a], reach / counts[a], 1.0) for a in order[top:]}
    weakest = min(sorted(lows), key=lambda a: round(lows[a], 9))
    rival = max(sorted(highs), key=lambda a: round(highs[a], 9))
    return Contest(weakest, rival, highs[rival] - lows[weakest])


@pytest.mark.parametrize("seed", range(25))
def test_a_contest_against_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 80, size=7)
    hits = rng.binomial(counts, rng.random(7))
    top, reach = int(rng.integers(1, 6)), float(rng.uniform(1, 15))
    ours = contest(Tally(hits, counts), top, reach)
    theirs = slow_contest(hits.tolist(), counts.tolist(), top, reach)
    assert ours[:2] == theirs[:2]
    assert ours.gap == pytest.approx(theirs.gap, abs=1e-7)


class Coins:
    """Coins of known chance; the n-th throw of a coin comes out the same in every game."""

    def __init__(self, chances: Sequence[float], seed: int, throws: int = 60_000) -> None:
        rng = np.random.default_rng(seed)
        self.hits = np.cumsum(rng.random((len(chances), throws)) < np.array(chances)[:, None], axis=1)

    def after(self, counts: Any) -> Any:
        return np.array([hits[n - 1] if n else 0 for hits, n in zip(self.hits, counts, strict=True)])

    def started(self, each: int) -> Tally:
        counts = np.full(len(self.hits), each)
        return Tally(self.after(counts), counts)

    def play(self, tally: Tally, game: Game) -> tuple[bool, int]:
        """Whether the game ended by itself, and the throws it took."""
        before = int(tally.counts.sum())
        try:
            throws = next(game)
            while True:
                throws = game.send(self.after(tally.counts + throws) - self.after(tally.counts))
        except StopIteration as stop:
            return bool(stop.value), int(tally.counts.sum()) - before


def slow_lucb(coins: Coins, top: int, tau: float, delta: float, batch: int) -> list[int]:
    """The pseudo-code in plain Python: how often each coin was thrown at the end."""
    counts, t = [batch] * len(coins.hits), 0
    while True:
        t += 1
        x = log(405.5 * len(counts) * (t + max(counts) / batch) ** 1.1 / delta)
        weakest, rival, gap = slow_contest(coins.after(counts).tolist(), counts, top, x + log(x))
        if gap <= tau:
            return counts
        for arm in (weakest, rival):
            counts[arm] += min(max(counts[arm], batch), 10 * batch)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("top", [1, 2])
def test_lucb_against_the_pseudo_code(seed: int, top: int) -> None:
    coins = Coins([0.9, 0.35, 0.75, 0.3, 0.1], seed)
    tally = coins.started(10)
    ended, _ = coins.play(tally, lucb(tally, top, tau=0.15, delta=0.1, batch=10, limit=10**6))
    assert ended
    assert tally.counts.tolist() == slow_lucb(coins, top, 0.15, 0.1, 10)


@pytest.mark.parametrize(("top", "wanted"), [(1, {3}), (2, {3, 1})])
def test_the_right_coins_are_found_in_nine_of_ten_games(top: int, wanted: set[int]) -> None:
    right = 0
    for seed in range(200):
        coins = Coins([0.2, 0.75, 0.5, 0.95, 0.5, 0.4], seed, throws=3000)
        tally = coins.started(10)
        ended, _ = coins.play(tally, lucb(tally, top, tau=0.1, delta=0.1, batch=10, limit=10**6))
        right += ended and set(tally.best(top).tolist()) == wanted
    assert right >= 180


def test_lucb_throws_mostly_the_coins_in_doubt() -> None:
    coins = Coins([0.9, 0.7, 0.1, 0.1, 0.1], 0)
    tally = coins.started(10)
    coins.play(tally, lucb(tally, 1, tau=0.05, delta=0.1, batch=10, limit=10**6))
    assert tally.counts[:2].min() > 3 * tally.counts[2:].max()


def test_games_keep_to_their_limit() -> None:
    coins = Coins([0.5, 0.5, 0.5], 1)
    for limit in (0, 15, 333):
        tally = coins.started(10)
        ended, throws = coins.play(tally, lucb(tally, 1, tau=0.01, delta=0.1, batch=10, limit=limit))
        assert not ended
        assert throws <= limit
        again = coins.started(10)
        assert coins.play(again, trial(again, [1, 1, 1], threshold=0.49, limit=limit))[1] <= limit


def test_nothing_to_tell_apart() -> None:
    tally = Coins([0.5, 0.6], 0).started(10)
    with pytest.raises(StopIteration) as stop:
        next(lucb(tally, 2, tau=0.1, delta=0.1, batch=10, limit=100))
    assert stop.value.value is True


def test_among_equals_the_earlier() -> None:
    assert Tally(np.array([5, 7, 7, 5]), np.full(4, 10)).best(3).tolist() == [1, 2, 0]


def test_intervals_hold_at_all_times_at_once() -> None:
    """Looked at after every throw, the true chance may be outside in at most delta of the games, whatever the coin."""
    n = np.arange(1, 401)
    for chance in (0.5, 0.95):
        missed = 0
        for seed in range(300):
            hits = np.cumsum(np.random.default_rng(seed).random(400) < chance)
            low, high = interval(Tally(hits, n), 1, 0.1)
            missed += bool(((chance < low) | (chance > high)).any())
        assert missed <= 30
        assert low[-1] > chance - 0.13  # and they are not simply wide


def test_intervals_by_hand() -> None:
    low, high = interval(Tally(np.array([40, 0]), np.array([50, 0])), 6, 0.1)
    level = log(51 * 6 / 0.1) / 50
    assert (low[0], high[0]) == pytest.approx((root(0.8, level, 0.0), root(0.8, level, 1.0)), abs=1e-8)
    assert (low[1], high[1]) == (0, 1)


def trial(tally: Tally, worth: list[float], above: float = -1, *, threshold: float = 0.8, limit: int = 10**6) -> Game:
    values = np.array(worth, dtype=float)
    return passing(tally, values, above, threshold=threshold, among=3, delta=0.1, batch=10, limit=limit)


def test_what_is_above_is_proven_and_nothing_else() -> None:
    for seed in range(20):
        coins = Coins([0.95, 0.5, 0.6], seed)
        tally = coins.started(10)
        assert coins.play(tally, trial(tally, [1, 2, 3]))[0]
        assert (interval(tally, 3, 0.1)[0] >= 0.8).tolist() == [True, False, False]
        assert tally.counts[1:].max() < 100  # hope is given up early


def test_the_nearest_to_its_proof_comes_first() -> None:
    coins = Coins([0.86, 1.0, 0.86], 3)
    tally = coins.started(40)
    assert coins.play(tally, trial(tally, [1, 1, 1]))[0]
    assert tally.counts[[0, 2]].tolist() == [40, 40]
    assert interval(tally, 3, 0.1)[0][1] >= 0.8


def test_what_is_worth_no_more_than_what_passed_waits() -> None:
    coins = Coins([1.0, 0.9, 0.9], 3)
    for worth, above, moved in (([1, 1, 0.5], -1, [0]), ([1, 2, 0.5], -1, [0, 1]), ([1, 2, 0.5], 1, [1])):
        tally = coins.started(10)
        assert coins.play(tally, trial(tally, worth, above))[0]
        assert np.flatnonzero(tally.counts > 10).tolist() == moved


def test_throws_that_cannot_suffice_are_not_made() -> None:
    tally = Tally(np.array([10, 2, 2]), np.array([10, 10, 10]))
    needed = wanted(tally, 3, 0.8, 0.1)
    assert needed[0] == pytest.approx(log((needed[0] + 11) * 3 / 0.1) / -log(0.8) - 10, abs=1)
    assert np.isinf(needed[1:]).all()
    with pytest.raises(StopIteration) as stop:
        next(trial(tally, [1, 1, 1], limit=int(needed[0]) - 1))
    assert stop.value.value is False
    assert next(trial(tally, [1, 1, 1], limit=int(needed[0]))).tolist() == [10, 0, 0]


def test_a_limit_may_be_spent_to_the_last_throw() -> None:
    """Both arms are thrown ten times in a round: twenty throws suffice for one round, nineteen for none."""

    def rounds(limit: int) -> tuple[int, bool]:
        tally = Tally(np.array([5, 5]), np.array([10, 10]))
        game = lucb(tally, 1, tau=0.01, delta=0.05, batch=10, limit=limit)
        played, throws = 0, None
        try:
            throws = next(game)
            while True:
                played += 1
                throws = game.send(throws // 2)
        except StopIteration as stop:
            return played, stop.value

    assert rounds(20) == (1, False)
    assert rounds(19) == (0, False)
    assert rounds(60) == (2, False)  # the second time twenty each


@pytest.mark.parametrize(("hits", "count"), [(45, 50), (18, 20), (5, 10), (0, 0)])
def test_the_throws_that_a_proof_needs_by_a_root_finder(hits: int, count: int) -> None:
    n = max(count, 1)
    chance = root(hits / n, 1 / n, 1.0)
    total = float(n)
    for _ in range(4):
        total = np.log((total + 1) * 7 / 0.05) / kl(chance, 0.8) if chance > 0.8 else np.inf
    expected = max(np.ceil(total - n), 1.0)
    found = wanted(Tally(np.array([hits]), np.array([count])), 7, 0.8, 0.05)[0]
    assert found == (expected if np.isinf(expected) else pytest.approx(expected, abs=1))
