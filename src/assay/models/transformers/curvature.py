"""Products with the inverse curvature of the mean training loss: conjugate gradients, LiSSA, EK-FAC.

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
from assay.models.transformers.kronecker import kronecker_factors
from assay.models.transformers.parameters import EncodedTarget, RowGradients, batched
from assay.questions.parameters import Conjugate, Inverse, Kronecker, Lissa
from assay.statistics.arrays import Ints

_RAISED = 10.0  # by which the damping is multiplied where the curvature is not positive
_TRIES = 8
_POWER = 20  # iterations for the largest eigenvalue
_ABOVE = 1.2  # a scale must lie above the largest eigenvalue
_FAR = 1e6  # a recursion that grows so much does not converge

Product = Callable[[Tensor], Tensor]


def inverse_products(
    gradients: RowGradients, vectors: Tensor, rows: Sequence[EncodedTarget], batches: Sequence[Ints], how: Inverse
) -> tuple[Tensor, float]:
    """(H + damping I)^-1 v for each of the vectors [n, parameters], and the damping that it took."""
    with torch.autocast(vectors.device.type, enabled=False):  # also where forward passes run in half precision
        return _inverse_products(gradients, vectors, rows, batches, how)


def _inverse_products(
    gradients: RowGradients, vectors: Tensor, rows: Sequence[EncodedTarget], batches: Sequence[Ints], how: Inverse
) -> tuple[Tensor, float]:
    match how:
        case Kronecker():
            return kronecker_factors(gradients, [[rows[i] for i in part] for part in batches]).solved(
                vectors, how.damping
            )
        case Conjugate():
            found = [_conjugate(hessian(gradients, rows, batches), v, how) for v in vectors]
            return torch.stack([s for s, _ in found]), max(damping for _, damping in found)
        case Lissa():
            return torch.stack([_lissa(gradients, v, rows, batches, how) for v in vectors]), how.damping


def hessian(gradients: RowGradients, rows: Sequence[EncodedTarget], batches: Sequence[Ints]) -> Product:
    """Multiplies a vector with the Hessian of the mean loss over these rows."""

    def product(vector: Tensor) -> Tensor:
        total = torch.zeros_like(vector)
        with _eager(gradients):
            for places in batches:
                total += hessian_product(gradients, [rows[i] for i in places], vector)
        return total / len(rows)

    return product


def _eager(gradients: RowGradients) -> AbstractContextManager[None]:
    network = gradients.network
    switches = hasattr(network.model, "set_attn_implementation") and not isinstance(network.model, Small)
    return network.attending_by("eager") if switches else nullcontext()


def hessian_product(gradients: RowGradients, batch: Sequence[EncodedTarget], vector: Tensor) -> Tensor:
    """With the Hessian of the summed loss of a batch."""
    leaves = {name: weight.clone().requires_grad_() for name, weight in gradients.parameters.items()}
    with torch.inference_mode(False), torch.enable_grad():
        loss = gradients.values(gradients.logits(leaves, gradients.inputs(batch)), batch).sum()
        first = torch.autograd.grad(loss, list(leaves.values()), create_graph=True, allow_unused=True)
        dot = sum(((g * v).sum() for g, v in zip(first, _split(gradients, vector), strict=True) if g is not None))
        second = torch.autograd.grad(dot, list(leaves.values()), allow_unused=True)  # type: ignore[arg-type]
    parts = zip(second, leaves.values(), strict=True)
    return torch.cat([(torch.zeros_like(w) if g is None else g).flatten() for g, w in parts]).detach()


def _split(gradients: RowGradients, vector: Tensor) -> Iterator[Tensor]:
    at = 0
    for weight in gradients.parameters.values():
        yield vector[at : at + weight.numel()].view_as(weight)
        at += weight.numel()


def _conjugate(product: Product, v: Tensor, how: Conjugate) -> tuple[Tensor, float]:
    """Begins anew with more damping where a direction of negative curvature is met."""
    damping = how.damping
    for _ in range(_TRIES):
        found = _solved(product, v, damping, how)
        if found is not None:
            return found, damping
        damping = max(damping, 1e-3) * _RAISED
    raise Unanswerable(f"the curvature is not positive even with a damping of {damping:g}; was this model trained?")


def _solved(product: Product, v: Tensor, damping: float, how: Conjugate) -> Tensor | None:
    """Conjugate gradients from zero; None where the curvature is not positive."""
    s, residual = torch.zeros_like(v), v.clone()
    direction, size = residual.clone(), residual @ residual
    goal = size * how.tolerance**2
    for _ in range(how.iterations):
        if size <= goal:
            break
        curved = product(direction) + damping * direction
        along = direction @ curved
        if along <= 0:
            return None
        step = size / along
        s, residual = s + step * direction, residual - step * curved
        before, size = size, residual @ residual
        direction = residual + (size / before) * direction
    return s


def _lissa(
    gradients: RowGradients, v: Tensor, rows: Sequence[EncodedTarget], batches: Sequence[Ints], how: Lissa
) -> Tensor:
    scale = how.scale or _ABOVE * (_largest(hessian(gradients, rows, batches), v) + how.damping)
    rng = np.random.default_rng(how.seed)
    with _eager(gradients):
        return torch.stack([_recursion(gradients, v, rows, scale, rng, how) for _ in range(how.repeat)]).mean(dim=0)


def _largest(product: Product, v: Tensor) -> float:
    """The largest eigenvalue in size, by power iteration."""
    size, vector = 0.0, v / v.norm().clamp_min(1e-30)
    for _ in range(_POWER):
        vector = product(vector)
        size = float(vector.norm())
        if not size:
            return 0.0
        vector = vector / size
    return size


def _recursion(
    gradients: RowGradients,
    v: Tensor,
    rows: Sequence[EncodedTarget],
    scale: float,
    rng: np.random.Generator,
    how: Lissa,
) -> Tensor:
    s = v.clone()
    for _ in range(how.depth):
        drawn = [rows[i] for i in rng.choice(len(rows), min(how.batch, len(rows)), replace=False)]
        curved = _drawn_product(gradients, drawn, s) / len(drawn) + how.damping * s
        s = v + s - curved / scale
        if not s.norm() <= _FAR * v.norm().clamp_min(1e-30):
            raise BadInput(f"LiSSA does not converge with a scale of {scale:g}: give a larger scale or more damping.")
    return s / scale


def _drawn_product(gradients: RowGradients, drawn: Sequence[EncodedTarget], vector: Tensor) -> Tensor:
    """The Hessian product of rows of any length, which go together only where padding makes no difference."""
    if gradients.model.found.company == "padded":
        return hessian_product(gradients, drawn, vector)
    parts = ([drawn[i] for i in places] for places in batched(gradients.model, drawn))
    return torch.stack([hessian_product(gradients, part, vector) for part in parts]).sum(dim=0)
