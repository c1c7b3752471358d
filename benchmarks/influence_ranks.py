"""How well summed scores foretell the models of random halves: mean rank correlation, interval, and what chance does.

Both tables are [texts, halves]. Halves and texts are drawn again for the interval; halves in another order, the same
for all texts, say how far scores that mean nothing stray.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

_DRAWS = 1000


def datamodeling(foretold: np.ndarray, said: np.ndarray) -> dict[str, float]:
    one, two, rng = _ranked(foretold), _ranked(said), np.random.default_rng(0)
    texts, halves = one.shape
    drawn = []
    for _ in range(_DRAWS):
        rows, columns = rng.integers(texts, size=(texts, 1)), rng.integers(halves, size=halves)
        drawn.append(_mean(_ranked(foretold[rows, columns]), _ranked(said[rows, columns])))
    low, high = np.quantile(drawn, [0.025, 0.975])
    other = [abs(_mean(one[:, rng.permutation(halves)], two)) for _ in range(_DRAWS)]
    found = {"mean": _mean(one, two), "low": low, "high": high, "chance": np.quantile(other, 0.95)}
    return {key: float(value) for key, value in found.items()}


def ceiling(values: np.ndarray) -> float:
    """Of log-odds [seeds, halves, texts]: the root of the reliability of their mean (Spearman and Brown)."""
    seeds = len(values)
    if seeds < 2:
        return float("nan")
    pairs = [(a, b) for a in range(seeds) for b in range(a)]
    alike = np.mean([_mean(_ranked(values[a].T), _ranked(values[b].T)) for a, b in pairs])
    return float(np.sqrt(max(0.0, seeds * alike / (1 + (seeds - 1) * alike))))


def _ranked(table: np.ndarray) -> np.ndarray:
    """Ranks of each row, less their mean, of length 1."""
    ranks = rankdata(table, axis=1) - (table.shape[1] + 1) / 2
    return np.asarray(ranks / np.maximum(np.linalg.norm(ranks, axis=1, keepdims=True), 1e-12))


def _mean(one: np.ndarray, two: np.ndarray) -> float:
    return float((one * two).sum(axis=1).mean())
