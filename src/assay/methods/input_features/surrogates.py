"""Small models fitted around one text, and how sure their weights are.

    ridge          argmin over w, b of   sum_i pi_i (y_i - b - w.z_i)^2                    + penalty |w|_2^2
    l1_logistic    argmin over w, b of   sum_i pi_i cross_entropy(y_i, sigmoid(b + w.z_i)) + penalty |w|_1

A row z of the samples holds 1 where a feature is present and 0 where it is taken away; pi is the weight of the sample.
The samples are drawn at random, so other samples give other weights. By how much, the residuals tell: `pulls` are the
terms of the sandwich estimate of the weights' covariance (White 1980; each residual over one minus its leverage, as
HC3), which holds although the true function is not linear and pi says nothing of its noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, ndtri

from assay.statistics.arrays import Floats
from assay.text.text import Masks

_TINY = 1e-10
_NEAR = 1e-9  # weights that differ by less, relative to the largest, are equal


@dataclass(frozen=True, eq=False)
class Surrogate:
    """The fitted weights; what they would be without the penalty; how far each sample pulls each of them."""

    weights: Floats
    intercept: float
    r2: float
    free: Floats
    pulls: Floats

    @cached_property
    def errors(self) -> Floats:
        """The standard error of each weight."""
        return np.asarray(np.sqrt((self.pulls**2).sum(axis=0)))

    def intervals(self, confidence: float = 0.95) -> Floats:
        """[features, 2]: on both sides the error of sampling, and as much as the penalty took away."""
        reach = ndtri((1 + confidence) / 2) * self.errors + np.abs(self.free - self.weights)
        return np.stack([self.weights - reach, self.weights + reach], axis=1)

    def places(self, k: int) -> int:
        """How many places an order of the top k has: a weight of zero has none."""
        return min(k, int(np.count_nonzero(self.weights)))

    def settled(self, k: int, confidence: float = 0.95) -> int:
        """How many places, from the first, of the order by absolute weight are certain; at most k.

        Certain: as many new samples would show the same order on all k places with this chance. The difference of two
        neighbours must be so large that its sign would hold again, where both the old and the new one have an error.
        """
        order = np.argsort(-np.abs(self.weights), kind="stable")[: self.places(k) + 1]
        sizes = np.abs(self.weights[order])
        pulls = self.pulls[:, order] * np.where(self.weights[order] < 0, -1, 1)
        errors = np.sqrt((np.diff(pulls, axis=1) ** 2).sum(axis=0))
        needed = np.sqrt(2) * ndtri(1 - (1 - confidence) / k) * errors + _NEAR * sizes[0]
        sure = -np.diff(sizes) > needed
        return self.places(k) if sure.all() else int(np.argmin(sure))


def ridge(kept: Masks, y: Floats, pi: Floats, penalty: float = 1.0) -> Surrogate:
    """Weighted least squares with a penalty on the squares of the weights; the intercept goes free."""
    shape = _Shape.of(kept, pi)
    mean = pi @ y / pi.sum()
    weights = shape.solve(shape.centred.T @ (pi * (y - mean)), penalty)
    fitted = mean + shape.centred @ weights
    return _told(shape, weights, float(mean - shape.centre @ weights), y, fitted, pi, penalty)


def l1_logistic(kept: Masks, y: Floats, pi: Floats, penalty: float = 1.0) -> Surrogate:
    """Logistic regression on probabilities, with a penalty that sets weak weights to zero; the intercept goes free."""
    shape = _Shape.of(kept, pi)
    weights, offset = _shrunk(shape, y, pi, penalty)
    fitted = expit(offset + shape.centred @ weights)
    bent = _Shape.of(kept, pi * np.maximum(fitted * (1 - fitted), _TINY))
    return _told(bent, weights, offset - float(shape.centre @ weights), y, fitted, pi, penalty)


@dataclass(frozen=True, eq=False)
class _Shape:
    """The samples about their weighted centre, and the spectrum of their second moments."""

    mass: Floats
    centre: Floats
    centred: Floats
    values: Floats
    vectors: Floats

    @classmethod
    def of(cls, kept: Masks, mass: Floats) -> _Shape:
        centre = mass @ kept / mass.sum()
        centred = kept - centre
        return cls(mass, centre, centred, *_spectrum(centred * np.sqrt(mass)[:, None]))

    def solve(self, right: Floats, penalty: float) -> Floats:
        """(moments + penalty) x = right, for a right side within the samples' reach; beyond it x stays at zero."""
        known = self.values + penalty > _NEAR * max(self.values[-1], _TINY)
        inverse = np.where(known, 1 / np.where(known, self.values + penalty, 1), 0)
        return np.asarray((self.vectors * inverse) @ (self.vectors.T @ right))


def _spectrum(rows: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, rising, and eigenvectors of rows' rows; found on the smaller side."""
    if len(rows) >= rows.shape[1]:
        values, vectors = np.linalg.eigh(rows.T @ rows)
        return np.maximum(values, 0), vectors
    values, left = np.linalg.eigh(rows @ rows.T)
    values = np.where(values > _TINY * values[-1], values, 0)
    return values, rows.T @ (left / np.sqrt(np.where(values > 0, values, np.inf)))


def _told(
    shape: _Shape, weights: Floats, intercept: float, y: Floats, fitted: Floats, pi: Floats, penalty: float
) -> Surrogate:
    gaps = pi * (y - fitted)
    free = weights + shape.solve(shape.centred.T @ gaps, 0.0)
    reach = shape.solve(shape.centred.T, penalty).T
    leverage = shape.mass * (1 / shape.mass.sum() + (shape.centred * reach).sum(axis=1))
    pulls = reach * (gaps / np.maximum(1 - leverage, 1e-6))[:, None]
    return Surrogate(weights, intercept, _r2(y, fitted, pi), free, pulls)


def _r2(y: Floats, fitted: Floats, pi: Floats) -> float:
    """The share of the weighted variance that is explained; 1 where there is none to explain."""
    spread = float(pi @ (y - pi @ y / pi.sum()) ** 2)
    return 1 - float(pi @ (y - fitted) ** 2) / spread if spread > _TINY * _TINY * pi.sum() else 1.0


def _shrunk(shape: _Shape, y: Floats, pi: Floats, penalty: float) -> tuple[Floats, float]:
    """FISTA (Beck and Teboulle 2009), started anew where it overshoots; the last number is the intercept's."""
    z: Any = np.column_stack([shape.centred, np.ones(len(y))])
    step = 4 / max(shape.values[-1], pi.sum())
    cut = step * penalty * np.append(np.ones(len(shape.centre)), 0)
    now = ahead = np.zeros(z.shape[1])
    pace = 1.0
    for _ in range(5000):
        raw = ahead + step * (z.T @ (pi * (y - expit(z @ ahead))))
        new = np.sign(raw) * np.maximum(np.abs(raw) - cut, 0)
        move = new - now
        pace, old = (1.0, 1.0) if (ahead - new) @ move > 0 else ((1 + np.sqrt(1 + 4 * pace**2)) / 2, pace)
        ahead, now = new + (old - 1) / pace * move, new
        if np.abs(move).max() <= _NEAR * max(1.0, np.abs(new).max()):
            break
    return now[:-1] + 0.0, float(now[-1])  # no negative zeros
