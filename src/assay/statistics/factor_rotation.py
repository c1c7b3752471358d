"""Orthogonal rotations of the Crawford-Ferguson family: few large numbers in each row, or in each column.

    phi(L) = (1 - kappa)/4 sum_i sum_(j != l) L_ij^2 L_il^2  +  kappa/4 sum_j sum_(i != m) L_ij^2 L_mj^2,      L = A T

    quartimax 0        varimax 1/p        parsimax (k - 1)/(p + k - 2)        parsimony 1        A is [p, k]

Crawford and Ferguson (1970), minimized by gradient projection (Jennrich, 2001), started at the identity, without Kaiser
normalization, as in Park, Bak and Oh (2017) and statsmodels. statsmodels multiplies by a matrix of p x p, which 5,000
words make too slow; sums over rows and columns give the same numbers in p x k steps.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from assay.statistics.arrays import Floats

Criterion = Literal["quartimax", "varimax", "parsimax", "parsimony"]
_HALVINGS = 11  # of the step, before it is taken as it is


class Rotated(NamedTuple):
    """Rotated loadings [p, k], the rotation [k, k], phi before and after, and whether the gradient became small."""

    loadings: Floats
    rotation: Floats
    before: float
    after: float
    iterations: int
    converged: bool


def kappa(criterion: Criterion, rows: int, columns: int) -> float:
    """The weight of simple columns against simple rows."""
    known = {"quartimax": 0.0, "varimax": 1 / rows, "parsimony": 1.0}
    return known[criterion] if criterion in known else (columns - 1) / (rows + columns - 2)


def crawford_ferguson(loadings: Floats, weight: float) -> tuple[float, Floats]:
    """phi, and its gradient at the loadings."""
    squares = loadings**2
    in_row, in_column = squares.sum(axis=1, keepdims=True), squares.sum(axis=0, keepdims=True)
    beside = (1 - weight) * (in_row - squares) + weight * (in_column - squares)
    return float((squares * beside).sum()) / 4, loadings * beside


def rotated(unrotated: Floats, criterion: Criterion, tolerance: float = 1e-3, most: int = 5000) -> Rotated:
    """The rotation with the least phi that gradient projection finds from the identity.

    Numbers are divided by the root of their mean square first, so that the tolerance means the same for any vectors.
    """
    scale = float(np.sqrt((unrotated**2).mean())) or 1.0
    a, weight = unrotated / scale, kappa(criterion, *unrotated.shape)
    size = float(a.shape[0])  # phi grows with the number of rows
    t, step = np.eye(a.shape[1]), 1.0
    before, slope = crawford_ferguson(a, weight)
    now, gradient, norm, steps = before / size, a.T @ slope / size, np.inf, 0
    while steps < most:
        inner = t.T @ gradient
        along = gradient - t @ (inner + inner.T) / 2  # what is left of it on the manifold of rotations
        norm = float(np.linalg.norm(along))
        if norm < tolerance:
            break
        steps, step = steps + 1, step * 2
        for _ in range(_HALVINGS):
            u, _, v = np.linalg.svd(t - step * along, full_matrices=False)
            trial = u @ v
            value, slope = crawford_ferguson(a @ trial, weight)
            if value / size < now - 0.5 * norm**2 * step:
                break
            step /= 2
        t, now, gradient = trial, value / size, a.T @ slope / size
    return Rotated(unrotated @ t, t, before * scale**4, now * size * scale**4, steps, norm < tolerance)
