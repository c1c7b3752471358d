"""Bernoulli bandits: which of many arms hit most often, found with few throws.

    d(p, q)    = p log(p / q) + (1 - p) log((1 - p) / (1 - q))
    upper, lower: the q furthest from the mean p, above and below it, with d(p, q) <= level
    beta(t, delta) = log(x) + log(log(x)),  x = k K t^alpha / delta,  for K arms in round t;  k = 405.5, alpha = 1.1

KL-LUCB: Kaufmann and Kalyanakrishnan (2013), Information Complexity in Bandit Subset Selection (COLT). A game is a
generator: it yields how often each arm is to be thrown, receives how often each hit, and returns whether it ended by
itself, not by its limit.

`interval` is for a statement about one arm after any choice among K and any stopping rule: by Ville's inequality for
the uniform mixture of likelihoods, n d(mean, p) <= log((n + 1) K / delta) holds for all arms at all times at once with
probability 1 - delta.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import rel_entr

from assay.statistics.arrays import Floats, Ints
from assay.text.text import Masks

Game: TypeAlias = Generator[Ints, Ints, bool]

_K, _ALPHA = 405.5, 1.1
_HALVINGS = 32  # the bracket is at most 1 wide: bounds are exact to 3e-10
_LARGEST = 10  # an arm is thrown as often again as before, up to so many batches


@dataclass
class Tally:
    """How often each arm was thrown, and how often it hit."""

    hits: Ints
    counts: Ints

    @classmethod
    def of(cls, arms: int) -> Tally:
        return cls(np.zeros(arms, dtype=np.int64), np.zeros(arms, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def means(self) -> Floats:
        return np.asarray(self.hits / np.maximum(self.counts, 1))

    def add(self, throws: Ints, hits: Ints) -> None:
        self.counts, self.hits = self.counts + throws, self.hits + hits

    def best(self, top: int) -> Ints:
        """The arms with the highest means, best first; among equals the earlier."""
        return np.argsort(-self.means, kind="stable")[:top]

    def only(self, arms: Masks) -> Tally:
        return Tally(self.hits[arms], self.counts[arms])


class Contest(NamedTuple):
    """The weakest of the best arms, the strongest of the others, and by how much they may stand in the wrong order."""

    weakest: int
    rival: int
    gap: float


def divergence(p: Floats, q: Floats) -> Floats:
    """Of Kullback and Leibler, from a coin of chance p to one of chance q."""
    return np.asarray(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


def upper(p: Floats, level: Floats) -> Floats:
    return _edge(p, level, np.ones_like(p))


def lower(p: Floats, level: Floats) -> Floats:
    return _edge(p, level, np.zeros_like(p))


def beta(arms: int, t: float, delta: float) -> float:
    """How far bounds must reach in round t so that all of them hold in all rounds with probability 1 - delta."""
    x = np.log(_K * arms * t**_ALPHA / delta)
    return float(x + np.log(x))


def interval(tally: Tally, arms: int, delta: float) -> tuple[Floats, Floats]:
    """Where each arm's chance lies: true of all `arms` and at all times at once, with probability 1 - delta."""
    counts = np.maximum(tally.counts, 1)
    level = np.where(tally.counts > 0, np.log((counts + 1) * arms / delta) / counts, np.inf)
    return lower(tally.means, level), upper(tally.means, level)


def contest(tally: Tally, top: int, reach: float) -> Contest:
    """Which two arms could most easily be in the wrong order."""
    best = np.zeros(len(tally), dtype=bool)
    best[tally.best(top)] = True
    edges = _edge(tally.means, reach / np.maximum(tally.counts, 1), np.where(best, 0.0, 1.0))
    weakest, rival = int(np.argmin(np.where(best, edges, np.inf))), int(np.argmax(np.where(best, -np.inf, edges)))
    return Contest(weakest, rival, float(edges[rival] - edges[weakest]))


def lucb(tally: Tally, top: int, *, tau: float, delta: float, batch: int, limit: int) -> Game:
    """Throw until the `top` best are told apart from the others, up to tau; every arm was thrown before."""
    rounds = 0
    while top < len(tally):
        rounds += 1
        # Batches differ in size. This t grows by 1 or more a round and exceeds every arm's count in batches: the two
        # things that the proof of the bounds asks of it.
        reach = beta(len(tally), rounds + tally.counts.max() / batch, delta)
        weakest, rival, gap = contest(tally, top, reach)
        if gap <= tau:
            return True
        throws = _more(tally, np.array([weakest, rival]), batch)
        if (limit := limit - int(throws.sum())) < 0:
            return False
        tally.add(throws, (yield throws))
    return True


def wanted(tally: Tally, arms: int, threshold: float, delta: float) -> Floats:
    """How many throws each arm needs for the proof that it lies above the threshold; infinite where hope is gone.

    Each arm is taken to be a little better than it looked, by the 1.4 standard errors of d(mean, chance) = 1 / n.
    """
    counts = np.maximum(tally.counts, 1)
    chance = upper(tally.means, 1 / counts)
    rate = np.where(chance > threshold, divergence(chance, np.full_like(chance, threshold)), 0.0)
    total = counts.astype(np.float64)
    with np.errstate(divide="ignore"):
        for _ in range(4):  # the reach grows with the logarithm of the throws: this settles at once
            total = np.log((total + 1) * arms / delta) / rate
    return np.asarray(np.maximum(np.ceil(total - counts), 1.0))


def passing(
    tally: Tally, worth: Floats, above: float, *, threshold: float, among: int, delta: float, batch: int, limit: int
) -> Game:
    """Prove arms to lie above the threshold, the nearest to its proof first, where the limit should suffice for it.

    Only what is worth more than `above`, and more than every arm that passed, is thrown.
    """
    while True:
        passed = interval(tally, among, delta)[0] >= threshold
        above = float(worth[passed].max(initial=above))
        wants = np.where(passed | (worth <= above), np.inf, wanted(tally, among, threshold, delta))
        arm = int(np.argmin(wants))
        if wants[arm] > limit:
            return bool(np.isinf(wants[arm]))
        throws = np.minimum(_more(tally, np.array([arm]), batch), limit)
        limit -= int(throws.sum())
        tally.add(throws, (yield throws))


def _more(tally: Tally, arms: Ints, batch: int) -> Ints:
    """Each of these arms as often again, within one to ten batches."""
    throws = np.zeros_like(tally.counts)
    throws[arms] = tally.counts[arms].clip(batch, _LARGEST * batch)
    return throws


def _edge(p: Floats, level: Floats, end: Floats) -> Floats:
    """The point between p and the end where the divergence reaches the level: bisection, from the outer side."""
    inside, outside = p, np.clip(end, p - np.sqrt(level / 2), p + np.sqrt(level / 2))  # Pinsker's inequality
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        within = divergence(p, middle) <= level
        inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
    return np.asarray(outside)
