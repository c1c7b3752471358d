"""A smooth game through the coalitions that are known: which ones to ask, the fit, its Shapley values in closed form.

Write a coalition S as z, +1 for the words that are there and -1 for the others. The Shapley values of a game v depend
only on y(z) = v(z) - v(-z), so that is what we model, as a Gaussian process with a linear mean:

    y(z) = z.b + g(z)         b_i ~ N(0, rho s^2)         g ~ GP(0, s^2 k)
    k(z, z') is proportional to sinh(sum_i t_i z_i z'_i) less its linear part,        tanh t_i = l_i

An interaction of the words T, three or five or more of them, then has a variance proportional to the product of their
l_i: many words interact less than few, and words that matter more interact more. The l_i sum to the reach of the game;
they are alike, or in proportion to a first estimate of |b|. Which of the two, the reach and rho are those with the
highest evidence (large rho a little less likely than small). With g = 0 and rho without end this is the linear
regression of KernelSHAP on paired samples.

The Shapley values of the fit follow from the diagonal formula of Owen (1972), Multilinear Extensions of Games,

    phi_i = integral over u in (0, 1) of  d v / d x_i at (u, ..., u),

which for k(., z') is a polynomial in u. Their standard errors are the posterior's. Which coalitions to ask follows from
the same model: one after the other, that which takes most from the variance of the Shapley values, out of a few times
as many drawn at random, with the words shuffled anew for each text.

That a fit with interactions gives better Shapley values than a linear one: Witter, Liu and Musco (2025),
arXiv:2506.11849; Fumagalli, Witter and Musco (2026), arXiv:2601.18608. The Gaussian process in their place is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve, solve_triangular

from assay.methods.input_features.coalitions import draw
from assay.statistics.arrays import Floats
from assay.text.text import Masks

_REACHES, _USUAL, _ROUGH = (1.0, 2.0, 4.0, 8.0, 16.0), 4.0, 16.0
_RATIOS = np.logspace(-3, 9, 25)
_NUGGET = 1e-3  # of the variance of g: rounding of a model must not decide how the fit bends
_LEAST = 0.05  # of the largest |b|: a word without an effect of its own may still interact
_MOST = 0.9  # a word's l: at 1 every interaction that has the word is as likely as the one without it
_JUDGES = (96, 256)  # pairs that choose between the settings, at least and at most; all pairs are fitted
_POOL = 4  # times as many coalitions to choose from as are asked
_LONGEST, _MOST_CHOSEN = 64, 600  # words and pairs up to which they are chosen: beyond, it takes long and gains little
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)  # exact up to 32 words, at these reaches nearly so beyond


def design(n: int, pairs: int, generator: np.random.Generator) -> Masks:
    """Coalitions to ask, with their complements, besides the whole text and nothing."""
    chosen = _design(n, pairs) if n <= _LONGEST and pairs <= _MOST_CHOSEN else draw(n, pairs, generator)[0]
    return chosen[:, generator.permutation(n)]


@lru_cache(maxsize=256)
def _design(n: int, pairs: int) -> Masks:
    """After the whole text, greedily what tells most of the Shapley values of a game that may be smooth or rough."""
    pool, _ = draw(n, min(_POOL * pairs, 2 ** (n - 1) - 1), np.random.default_rng(n))
    z, both = _signs(pool), [_lengths(np.ones(n), reach) for reach in (_USUAL, _ROUGH)]
    tells = np.mean([_parts(z, lengths) for lengths in both], axis=0) + z
    variance = np.full(len(z), 1 + n + _NUGGET)
    known, chosen = np.empty((pairs, len(z))), [0]
    for step in range(pairs):
        at = chosen[-1]
        alike = np.mean([_kernel(z, z[[at]], lengths)[:, 0] for lengths in both], axis=0) + z @ z[at]
        column = alike - known[:step].T @ known[:step, at]
        known[step] = column / np.sqrt(variance[at])
        tells -= np.outer(column / variance[at], tells[at])
        variance = np.maximum(variance - known[step] ** 2, _NUGGET)
        gain = (tells**2).sum(axis=1) / variance
        gain[chosen] = 0
        # Words are alike, so gains tie: the first of equals, whatever a machine's rounding says.
        chosen.append(int(np.argmax(np.round(gain / gain.max(), 9))))
    return np.asarray(z[chosen[1:]] > 0)


def fit(keep: Masks, differences: Floats, change: float) -> tuple[Floats, Floats]:
    """Shapley values and their standard errors, from v(S) - v(all but S) for the rows S, and v(all) - v(nothing)."""
    y = np.concatenate([[change], differences])
    scale = np.abs(y).max()
    if scale == 0:
        return np.zeros(keep.shape[1]), np.zeros(keep.shape[1])
    z = _signs(keep)
    game = _Game(z, y / scale, _chosen(z, y / scale))
    rest = change / scale - game.values.sum()  # of rounding
    return (game.values + rest / z.shape[1]) * scale, game.errors * scale


def _signs(keep: Masks) -> Floats:
    """+1 for the words that are there, -1 for the others; the whole text in front."""
    return np.where(np.concatenate([np.ones((1, keep.shape[1]), dtype=bool), keep]), 1.0, -1.0)


class _Setting(NamedTuple):
    lengths: Floats
    ratio: float


def _chosen(z: Floats, y: Floats) -> _Setting:
    """The setting with the highest evidence, by some of the pairs."""
    judges = np.clip(2 * z.shape[1], *_JUDGES)
    some = np.linspace(0, len(y) - 1, min(len(y), judges)).round().astype(np.int64)
    relevance = np.abs(solve(z.T @ z + 1e-3 * len(y) * np.eye(z.shape[1]), z.T @ y, assume_a="pos"))
    relevance += _LEAST * relevance.max() + np.finfo(float).tiny

    def judged(shares: Floats, reach: float) -> tuple[float, _Setting]:
        return _judged(z[some], y[some], _lengths(shares, reach))

    shares = max((np.ones_like(relevance), relevance), key=lambda shares: judged(shares, _USUAL)[0])
    return max((judged(shares, reach) for reach in _REACHES), key=itemgetter(0))[1]


def _lengths(shares: Floats, reach: float) -> Floats:
    return np.asarray(np.minimum(reach * shares / shares.sum(), _MOST))


def _judged(z: Floats, y: Floats, lengths: Floats) -> tuple[float, _Setting]:
    """The best ratio for these lengths, and the logarithm of the evidence up to a constant."""
    kernel = _kernel(z, z, lengths)
    kernel[np.diag_indices_from(kernel)] += _NUGGET
    root = cholesky(kernel, lower=True, check_finite=False)
    white = solve_triangular(root, np.column_stack([z, y]), lower=True, check_finite=False)
    left, spread, _ = np.linalg.svd(white[:, :-1], full_matrices=False)
    along = left.T @ white[:, -1]
    beside = max(white[:, -1] @ white[:, -1] - along @ along, 1e-14)
    wide = 1 + _RATIOS[:, None] * spread**2
    misfit = beside + (along**2 / wide).sum(axis=1)
    evidence = -0.5 * (len(y) * np.log(misfit) + np.log(wide).sum(axis=1)) - np.log(np.diag(root)).sum()
    evidence -= np.log1p(_RATIOS)  # with fewer pairs than words every large ratio would be as good as another
    return float(evidence.max()), _Setting(lengths, float(_RATIOS[evidence.argmax()]))


def _kernel(z: Floats, other: Floats, lengths: Floats) -> Floats:
    """The kernel between rows and rows; 1 between a row and itself."""
    scale, height = _constants(lengths)
    return np.asarray(np.sinh((z * np.arctanh(lengths)) @ other.T) / height - (z * (lengths * scale)) @ other.T)


def _parts(z: Floats, lengths: Floats) -> Floats:
    """Of each row z', the Shapley values of k(., z')."""
    scale, _ = _constants(lengths)
    slopes, total = z * lengths, np.zeros_like(z)
    for node, weight in zip(_NODES, _WEIGHTS / 2, strict=True):
        factors = 1 + node * slopes
        total += weight * factors.prod(axis=1, keepdims=True) / factors
    return np.asarray(scale * slopes * (total - 1))


def _constants(lengths: Floats) -> tuple[float, float]:
    """k(z, z') = scale * (odd part of prod_i (1 + l_i z_i z'_i) - l.(z z')), and k = (sinh - ...) / height."""
    product = float(np.prod(1 / np.sqrt(1 - lengths**2)))
    height = float(np.sinh(np.arctanh(lengths).sum()) - product * lengths.sum())
    return product / height, height


@dataclass(frozen=True, eq=False)
class _Game:
    """The posterior: b and g given the known coalitions."""

    z: Floats
    y: Floats
    setting: _Setting

    @cached_property
    def root(self) -> Floats:
        kernel = _kernel(self.z, self.z, self.setting.lengths)
        noisy = np.arange(1, len(self.y))  # the whole text is met exactly, so that the values sum to what they should
        kernel[noisy, noisy] += _NUGGET
        return np.asarray(cholesky(kernel, lower=True, check_finite=False))

    @cached_property
    def white(self) -> tuple[Floats, Floats, Floats]:
        """The rows z, y and their parts, where the known coalitions are independent."""
        n, parts = self.z.shape[1], _parts(self.z, self.setting.lengths)
        together = np.column_stack([self.z, self.y, parts])
        whitened = solve_triangular(self.root, together, lower=True, check_finite=False)
        return whitened[:, :n], whitened[:, n], whitened[:, n + 1 :]

    @cached_property
    def precision(self) -> Floats:
        """Of b: the inverse of its covariance."""
        z, _, _ = self.white
        return np.asarray(z.T @ z + np.eye(z.shape[1]) / self.setting.ratio)

    @cached_property
    def slopes(self) -> Floats:
        z, y, _ = self.white
        return np.asarray(solve(self.precision, z.T @ y, assume_a="pos"))

    @cached_property
    def values(self) -> Floats:
        z, y, parts = self.white
        return np.asarray(self.slopes + (y - z @ self.slopes) @ parts)

    @cached_property
    def errors(self) -> Floats:
        z, y, parts = self.white
        rest = y - z @ self.slopes
        variance = (rest @ rest + self.slopes @ self.slopes / self.setting.ratio) / len(y)
        unknown = np.eye(z.shape[1]) - z.T @ parts
        spread = (unknown * solve(self.precision, unknown, assume_a="pos")).sum(axis=0)
        return np.asarray(np.sqrt(variance * np.maximum(self._prior - (parts**2).sum(axis=0) + spread, 0)))

    @property
    def _prior(self) -> Floats:
        """The variance of the Shapley values of g before anything is known."""
        lengths, (scale, _) = self.setting.lengths, _constants(self.setting.lengths)
        factors = 1 + np.multiply.outer(_NODES, _NODES).reshape(-1, 1) * lengths
        weights = np.multiply.outer(_WEIGHTS, _WEIGHTS).ravel() / 4
        return np.asarray(scale * lengths * (weights @ (factors.prod(axis=1, keepdims=True) / factors) - 1))
