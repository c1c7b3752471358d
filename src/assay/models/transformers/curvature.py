"""Products with the inverse curvature of the mean training loss: conjugate gradients, LiSSA, EK-FAC, equal shares.

Second derivatives are taken by two backward passes, under the eager attention: the fast one has none on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch
from torch import Tensor

from assay.errors import BadInput, Unanswerable
from assay.models.own.small import Small
from assay.models.transformers.equal_shares import shares, squares
from assay.models.transformers.kronecker import kronecker_factors
from assay.models.transformers.parameters import RowGradients, batched
from assay.models.transformers.row_outputs import EncodedTarget
from assay.questions.parameters import Conjugate, EqualShares, Inverse, Kronecker, Lissa
from assay.statistics.arrays import Ints

_RAISED = 10.0  # by which the damping is multiplied where the curvature is not positive
_TRIES = 8
_POWER = 20  # iterations for the largest eigenvalue
_ABOVE = 1.2  # a scale must lie above the largest eigenvalue
_FAR = 1e6  # a recursion that grows so much does not converge

Product = Callable[[Tensor], Tensor]  # of vectors [n, parameters] with a matrix


def inverse_products(
    gradients: RowGradients, vectors: Tensor, rows: Sequence[EncodedTarget], batches: Sequence[Ints], how: Inverse
) -> tuple[Tensor, list[float]]:
    """(H + damping I)^-1 v for each of the vectors [n, parameters], and the damping that each took.

    The vectors share what is the same for all: a pass over the training set multiplies all of them.
    """
    with torch.autocast(vectors.device.type, enabled=False):  # also where forward passes run in half precision
        return _inverse_products(gradients, vectors, rows, batches, how)


def _inverse_products(
    gradients: RowGradients, vectors: Tensor, rows: Sequence[EncodedTarget], batches: Sequence[Ints], how: Inverse
) -> tuple[Tensor, list[float]]:
    match how:
        case Kronecker():
            factors = kronecker_factors(gradients, [[rows[i] for i in part] for part in batches])
            return factors.solved(vectors, how.damping), [how.damping] * len(vectors)
        case EqualShares():
            own = shares(torch.cat(list(squares(gradients, [[rows[i] for i in part] for part in batches]))))
            each = torch.tensor(gradients.sizes, device=own.device)
            return vectors * own.repeat_interleave(each), [0.0] * len(vectors)
        case Conjugate():
            return _conjugate(hessian(gradients, rows, batches), vectors, how)
        case Lissa():
            return _lissa(gradients, vectors, rows, batches, how), [how.damping] * len(vectors)


def hessian(gradients: RowGradients, rows: Sequence[EncodedTarget], batches: Sequence[Ints]) -> Product:
    """Multiplies vectors with the Hessian of the mean loss over these rows."""

    def product(vectors: Tensor) -> Tensor:
        total = torch.zeros_like(vectors)
        with _eager(gradients):
            for places in batches:
                total += hessian_products(gradients, [rows[i] for i in places], vectors)
        return total / len(rows)

    return product


def _eager(gradients: RowGradients) -> AbstractContextManager[None]:
    network = gradients.network
    switches = hasattr(network.model, "set_attn_implementation") and not isinstance(network.model, Small)
    return network.attending_by("eager") if switches else nullcontext()


def hessian_products(gradients: RowGradients, batch: Sequence[EncodedTarget], vectors: Tensor) -> Tensor:
    """With the Hessian of the summed loss of a batch: one pass forward and one back, and one more for each vector."""
    leaves = {name: weight.clone().requires_grad_() for name, weight in gradients.parameters.items()}
    weights = list(leaves.values())
    with torch.inference_mode(False), torch.enable_grad():
        loss = gradients.values(gradients.logits(leaves, batch), batch).sum()
        first = torch.autograd.grad(loss, weights, create_graph=True, allow_unused=True)
        found = []
        for vector in vectors:
            split = zip(first, _split(gradients, vector), strict=True)
            dot: Tensor = sum(((g * v).sum() for g, v in split if g is not None), start=loss.new_zeros(()))
            second = torch.autograd.grad(dot, weights, retain_graph=True, allow_unused=True)
            parts = zip(second, weights, strict=True)
            found.append(torch.cat([(torch.zeros_like(w) if g is None else g).flatten() for g, w in parts]))
    return torch.stack(found).detach()


def _split(gradients: RowGradients, vector: Tensor) -> Iterator[Tensor]:
    at = 0
    for weight in gradients.parameters.values():
        yield vector[at : at + weight.numel()].view_as(weight)
        at += weight.numel()


def _conjugate(product: Product, vectors: Tensor, how: Conjugate) -> tuple[Tensor, list[float]]:
    """Begins anew with more damping for each vector that meets a direction of negative curvature."""
    found, damping = torch.zeros_like(vectors), vectors.new_full((len(vectors),), how.damping)
    left = torch.arange(len(vectors), device=vectors.device)
    for _ in range(_TRIES):
        found[left], positive = _solved(product, vectors[left], damping[left], how)
        left = left[~positive]
        if not len(left):
            return found, [how.damping if one == damping.new_tensor(how.damping) else float(one) for one in damping]
        damping[left] = damping[left].clamp_min(1e-3) * _RAISED
    most = float(damping.max())
    raise Unanswerable(f"the curvature is not positive even with a damping of {most:g}; was this model trained?")


def _solved(product: Product, vectors: Tensor, damping: Tensor, how: Conjugate) -> tuple[Tensor, Tensor]:
    """Conjugate gradients from zero for each vector, and for which of them the curvature was positive all along."""
    s, residual, direction = torch.zeros_like(vectors), vectors.clone(), vectors.clone()
    size = residual.square().sum(dim=1)
    goal, positive = size * how.tolerance**2, torch.ones_like(size, dtype=torch.bool)
    for _ in range(how.iterations):
        going = torch.nonzero(positive & (size > goal))[:, 0]
        if not len(going):
            break
        towards = direction[going]
        curved = product(towards) + damping[going, None] * towards
        along = (towards * curved).sum(dim=1)
        positive[going[along <= 0]] = False
        going, towards, curved, along = (part[along > 0] for part in (going, towards, curved, along))
        step = (size[going] / along)[:, None]
        s[going] += step * towards
        residual[going] -= step * curved
        before, size[going] = size[going], residual[going].square().sum(dim=1)
        direction[going] = residual[going] + (size[going] / before)[:, None] * towards
    return s, positive


def _lissa(
    gradients: RowGradients, vectors: Tensor, rows: Sequence[EncodedTarget], batches: Sequence[Ints], how: Lissa
) -> Tensor:
    if how.scale is None:
        scale = _ABOVE * (_largest(hessian(gradients, rows, batches), vectors) + how.damping)
    else:
        scale = vectors.new_full((len(vectors),), how.scale)
    rng = np.random.default_rng(how.seed)
    with _eager(gradients):
        tries = [_recursion(gradients, vectors, rows, scale[:, None], rng, how) for _ in range(how.repeat)]
    return torch.stack(tries).mean(dim=0)


def _largest(product: Product, vectors: Tensor) -> Tensor:
    """The largest eigenvalue in size, by power iteration from each vector."""
    size: Tensor = vectors.norm(dim=1)
    for _ in range(_POWER):
        vectors = product(vectors / vectors.norm(dim=1, keepdim=True).clamp_min(1e-30))
        size = vectors.norm(dim=1)
    return size


def _recursion(
    gradients: RowGradients,
    vectors: Tensor,
    rows: Sequence[EncodedTarget],
    scale: Tensor,
    rng: np.random.Generator,
    how: Lissa,
) -> Tensor:
    s = vectors.clone()
    most = _FAR * vectors.norm(dim=1).clamp_min(1e-30)
    for _ in range(how.depth):
        drawn = [rows[i] for i in rng.choice(len(rows), min(how.batch, len(rows)), replace=False)]
        curved = _drawn_products(gradients, drawn, s) / len(drawn) + how.damping * s
        s = vectors + s - curved / scale
        if not (s.norm(dim=1) <= most).all():
            least = float(scale.min())
            raise BadInput(f"LiSSA does not converge with a scale of {least:g}: give a larger scale or more damping.")
    return s / scale


def _drawn_products(gradients: RowGradients, drawn: Sequence[EncodedTarget], vectors: Tensor) -> Tensor:
    """The Hessian products of rows of any length, which go together only where padding makes no difference."""
    if gradients.model.found.company == "padded":
        return hessian_products(gradients, drawn, vectors)
    parts = ([drawn[i] for i in places] for places in batched(gradients.model, drawn))
    return torch.stack([hessian_products(gradients, part, vectors) for part in parts]).sum(dim=0)
