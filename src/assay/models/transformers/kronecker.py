"""EK-FAC: the Gauss-Newton matrix of each linear layer, in the eigenbasis of its Kronecker factors.

    A = E[a a'],  S = E[d d'],  a the input of the layer with a 1 for its bias, d the derivative at its output
    L_ij = E[(U_S' G U_A)_ij^2],  G the gradient of one text             George et al. (2018), arXiv:1806.03884

The expectation is over training texts and over the labels that the model itself gives them: all of them, each with its
probability, so nothing is drawn; of a language model over tokens that it draws. Parameters of no linear layer, and of
those that are wider than 8,192, have E[g^2] as their diagonal. G is a sum over the pieces of a text of d a', so it is
turned piece by piece, d and a each by its own basis: of a text of 12 pieces and a layer of 384 x 1,536 that is a
thirtieth of the work of turning G.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from assay.models.transformers.parameters import RowGradients
from assay.models.transformers.row_outputs import EncodedTarget
from assay.models.transformers.row_terms import Outer, Term

_WIDE = 8192  # numbers that a factor may have on a side


@dataclass
class _Block:
    """The weight of a linear layer, and its bias if that is chosen too: where they stand, and their two bases."""

    name: str
    weight: slice
    bias: slice | None
    shape: tuple[int, int]
    turned_round: bool  # its weight is [in, out], as in GPT-2
    inputs: Tensor
    outputs: Tensor
    squares: Tensor

    def matrix(self, vectors: Tensor) -> Tensor:
        """[n, out, in], the bias as one more column."""
        weight = vectors[:, self.weight].view(-1, *self.shape)
        weight = weight.transpose(1, 2) if self.turned_round else weight
        return weight if self.bias is None else torch.cat([weight, vectors[:, self.bias, None]], dim=2)

    def turned(self, matrix: Tensor) -> Tensor:
        """Into the eigenbasis."""
        return self.outputs.T @ matrix @ self.inputs

    def turned_by_piece(self, term: Outer) -> Tensor:
        """The same, of what each piece adds."""
        d, a = (term.right, term.left) if self.turned_round else (term.left, term.right)
        a = a if self.bias is None else torch.cat([a, a.new_ones(*a.shape[:2], 1)], dim=2)
        return (d @ self.outputs).transpose(1, 2) @ (a @ self.inputs)

    def back(self, matrix: Tensor) -> Tensor:
        return self.outputs @ matrix @ self.inputs.T

    def put(self, matrix: Tensor, into: Tensor) -> None:
        """To its places in the vectors."""
        columns = self.shape[0 if self.turned_round else 1]
        weight = matrix[:, :, :columns]
        into[:, self.weight] = (weight.transpose(1, 2) if self.turned_round else weight).flatten(1)
        if self.bias is not None:
            into[:, self.bias] = matrix[:, :, columns]


@dataclass(frozen=True)
class Turned:
    """Gradients of rows in the eigenbases of the blocks; what is in no block as it is. A reduction of row gradients."""

    blocks: Sequence[_Block]
    places: Mapping[str, slice]

    def of_terms(self, terms: Mapping[str, Term], logits: Tensor) -> Tensor:
        size = sum(term.numbers for term in terms.values())
        found = next(iter(terms.values())).whole().new_empty(len(logits), size)
        by_piece = {f"{block.name}.weight": block for block in self.blocks}
        by_piece = {name: block for name, block in by_piece.items() if isinstance(terms[name], Outer)}
        theirs = {f"{block.name}.bias" for block in by_piece.values() if block.bias is not None}
        for name, term in terms.items():
            if name in by_piece and isinstance(term, Outer):
                by_piece[name].put(by_piece[name].turned_by_piece(term), found)
            elif name not in theirs:
                found[:, self.places[name]] = term.whole()
        for block in self.blocks:  # a weight that two layers share adds in two ways
            if f"{block.name}.weight" not in by_piece:
                block.put(block.turned(block.matrix(found)), found)
        return found

    def of_whole(self, gradients: Tensor, logits: Tensor) -> Tensor:
        found = gradients.clone()
        for block in self.blocks:
            block.put(block.turned(block.matrix(gradients)), found)
        return found

    def held(self, sizes: Sequence[int]) -> int:
        return sum(sizes)


@dataclass
class KroneckerFactors:
    """The curvature, ready to be divided by."""

    turned: Turned
    squares: Tensor  # of all parameters, those of the blocks in their eigenbases

    def solved(self, vectors: Tensor, damping: float) -> Tensor:
        found = vectors / (self.squares + damping)
        for block in self.turned.blocks:
            block.put(block.back(block.turned(block.matrix(vectors)) / (block.squares + damping)), found)
        return found


def kronecker_factors(gradients: RowGradients, batches: Sequence[Sequence[EncodedTarget]]) -> KroneckerFactors:
    """Two passes over the training set: the bases first, then the eigenvalues in them."""
    places, at = {}, 0
    for name, weight in gradients.parameters.items():
        places[name] = slice(at, at + weight.numel())
        at += weight.numel()
    blocks = _blocks(gradients, places, batches)
    turned = Turned(blocks, places)
    squares = torch.zeros(gradients.size, device=gradients.network.device)
    rows = sum(map(len, batches))
    for batch in batches:
        for weights, found in gradients.of_the_curvature(batch, turned):
            squares += weights @ found.square_() / rows
    for block in blocks:
        block.squares = block.matrix(squares[None])[0]
    return KroneckerFactors(turned, squares)


def _blocks(
    gradients: RowGradients, places: dict[str, slice], batches: Sequence[Sequence[EncodedTarget]]
) -> list[_Block]:
    """A block for each linear layer whose weight is chosen, with the eigenvectors of its factors."""
    named = dict(gradients.network.model.named_modules())
    layers = {name.removesuffix(".weight"): part for name, part in places.items() if name.endswith(".weight")}
    linear = {name: named[name] for name in layers if _factored(named.get(name))}
    factors = _factors(gradients, linear, places, batches)
    blocks = []
    for name, (a, s) in factors.items():
        weight = gradients.parameters[f"{name}.weight"]
        inputs, outputs = (torch.linalg.eigh(factor).eigenvectors for factor in (a, s))
        shape = (weight.shape[0], weight.shape[1])
        squares = torch.zeros(len(s), len(a), device=weight.device)
        at, turned = (places[f"{name}.weight"], places.get(f"{name}.bias")), isinstance(linear[name], Conv1D)
        blocks.append(_Block(name, *at, shape, turned, inputs, outputs, squares))
    return blocks


def _factored(layer: nn.Module | None) -> bool:
    return isinstance(layer, nn.Linear | Conv1D) and max(layer.weight.shape) <= _WIDE


def _factors(
    gradients: RowGradients,
    linear: dict[str, nn.Module],
    places: dict[str, slice],
    batches: Sequence[Sequence[EncodedTarget]],
) -> dict[str, tuple[Tensor, Tensor]]:
    """A and S of each layer that is called as a module, over all calls; one whose weight is used otherwise has none."""
    found: dict[str, tuple[Tensor, Tensor]] = {}
    seen: list[tuple[str, Tensor, Tensor]] = []

    def watch(name: str) -> torch.utils.hooks.RemovableHandle:
        return linear[name].register_forward_hook(lambda m, args, output: seen.append((name, args[0], output)))

    handles = [watch(name) for name in linear]
    try:
        for batch in batches:
            _add_factors(gradients, batch, places, seen, found)
    finally:
        for handle in handles:
            handle.remove()
    return found


def _add_factors(
    gradients: RowGradients,
    batch: Sequence[EncodedTarget],
    places: dict[str, slice],
    seen: list[tuple[str, Tensor, Tensor]],
    found: dict[str, tuple[Tensor, Tensor]],
) -> None:
    seen.clear()
    leaves = {name: weight.clone().requires_grad_() for name, weight in gradients.parameters.items()}
    there = gradients.inputs(batch)["attention_mask"].bool()
    with torch.inference_mode(False), torch.enable_grad():
        found_outputs = gradients.logits(leaves, batch)
        outputs = [output for _, _, output in seen]
        for turn, (value, weights) in enumerate(gradients.pseudo_losses(found_outputs, batch)):
            derived = torch.autograd.grad(value, outputs, retain_graph=True, allow_unused=True)
            for (name, a, _), d in zip(seen, derived, strict=True):
                if d is not None:
                    _add(found, name, a.detach(), d, weights, there, f"{name}.bias" in places, turn == 0)


def _add(
    found: dict[str, tuple[Tensor, Tensor]],
    name: str,
    a: Tensor,
    d: Tensor,
    weights: Tensor,
    there: Tensor,
    bias: bool,
    first: bool,
) -> None:
    """The inputs are counted once and without padding, the derivatives once for each label or draw."""
    rows = a[there] if a.shape[:-1] == there.shape else a.reshape(-1, a.shape[-1])
    inputs = torch.cat([rows, rows.new_ones(len(rows), 1)], dim=1) if bias else rows
    weighted = weights.view(-1, *[1] * (d.dim() - 1)).expand_as(d).reshape(-1, d.shape[-1]) * d.reshape(-1, d.shape[-1])
    old = found.get(name, (inputs.new_zeros(inputs.shape[1], inputs.shape[1]), d.new_zeros(d.shape[-1], d.shape[-1])))
    new = old[0] + inputs.T @ inputs if first else old[0]
    found[name] = (new, old[1] + weighted.T @ d.reshape(-1, d.shape[-1]))
