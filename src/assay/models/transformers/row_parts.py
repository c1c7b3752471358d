"""The gradients of single rows from one backward pass over all of them.

A layer's input a and the derivative d at its output, both [rows, pieces, size], say what each row adds to the gradient
of the layer's parameters:

    linear        sum over pieces of d a',  and d for the bias        layer norm     sum of d * normalised a,  and d
    embedding     d, added to the vectors of the row's own pieces     RMS norm       sum of d * normalised a

Goodfellow (2015), arXiv:1510.01799. So the gradients of rows cost one pass, and no weight is copied. A weight that two
layers share, as embeddings and the layer that gives the logits often do, has what both of them add.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from assay.models.transformers.row_terms import Both, OneHot, Outer, Plain, Term

_KEPT = 1 << 24  # numbers that layers read and give, of passes that are kept


class NotByRow(Exception):
    """A parameter lies in a layer of which it is not known what each row adds."""


class RowParts:
    """Within it, the layers that own the parameters note what they read and what they give."""

    def __init__(self, model: nn.Module, parameters: Mapping[str, Tensor], rows: int) -> None:
        self.parameters, self.rows = parameters, rows
        self._names = _owned(model, parameters)
        self._calls: list[tuple[nn.Module, Tensor, Tensor]] = []
        self._handles: list[Any] = []

    def __enter__(self) -> Self:
        self._handles = [layer.register_forward_hook(self._note) for layer in self._names]
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for handle in self._handles:
            handle.remove()

    def _note(self, layer: nn.Module, args: tuple[Any, ...], output: Tensor) -> Tensor:
        """The weights of the model that Assay works with take no gradient, so the output begins a graph of its own.

        What all rows share, such as the vectors of the places, is given to each of them.
        """
        if not args or not isinstance(args[0], Tensor):  # places from a shape, say (RoFormer)
            raise NotByRow
        read = args[0].detach()
        if len(read) == len(output) == 1 < self.rows:
            read, output = (part.expand(self.rows, *part.shape[1:]) for part in (read, output))
        started = output if output.requires_grad else output.detach().requires_grad_()
        self._calls.append((layer, read, started))
        return started

    @property
    def numbers(self) -> int:
        """What the layers read and gave, on the way to the outputs."""
        return sum(read.numel() + output.numel() for _, read, output in self._calls)

    def terms(self, value: Tensor, *, again: bool = False) -> dict[str, Term]:
        """What each row adds to the gradient of each parameter, of a sum over rows; in the order of the parameters.

        Where other values of the same rows are to follow, say `again`.
        """
        if not value.requires_grad:  # none of the layers was called: their weights are used elsewhere
            raise NotByRow
        outputs = [output for _, _, output in self._calls]
        derived = torch.autograd.grad(value, outputs, allow_unused=True, retain_graph=again)
        pieces: dict[nn.Module, list[tuple[Tensor, Tensor]]] = {}
        for (layer, read, _), d in zip(self._calls, derived, strict=True):
            if d is None or len(read) != self.rows or len(d) != self.rows:
                raise NotByRow
            width = () if isinstance(layer, nn.Embedding) else read.shape[-1:]
            pair = read.reshape(self.rows, -1, *width), d.reshape(self.rows, -1, d.shape[-1])
            pieces.setdefault(layer, []).append(pair)
        found: dict[str, Term] = {}
        for layer, pairs in pieces.items():  # a layer that is called twice reads all the pieces of both calls
            read, d = (torch.cat(side, dim=1) for side in zip(*pairs, strict=True))
            for name, term in _terms(layer, read, d).items():
                if full := self._names[layer].get(name):
                    found[full] = Both(found[full], term) if full in found else term
        if set(found) != set(self.parameters):
            raise NotByRow
        return {name: found[name] for name in self.parameters}


class Passes:
    """Forward passes that are gone back through more than once: EK-FAC asks for the same rows again and again.

    Kept as far as little memory holds them: where only the last layer is asked for, that is a state for each row.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[int, ...], tuple[Sequence[Any], RowParts, Tensor]] = {}
        self._numbers = 0

    def of(self, rows: Sequence[Any], make: Callable[[], tuple[RowParts, Tensor]]) -> tuple[RowParts, Tensor, bool]:
        """The pass, its outputs, and whether it is kept; the rows are known by what they are, not by what they hold."""
        key = tuple(map(id, rows))
        if key not in self._kept:
            parts, outputs = make()
            self._numbers += (numbers := parts.numbers)
            if self._numbers > _KEPT:
                self._numbers -= numbers
                return parts, outputs, False
            self._kept[key] = tuple(rows), parts, outputs  # the rows too: an id is theirs while they are there
        _, parts, outputs = self._kept[key]
        return parts, outputs, True


def _terms(layer: nn.Module, read: Tensor, d: Tensor) -> dict[str, Term]:
    """By the layer's own names of its parameters."""
    if isinstance(layer, nn.Embedding):
        if layer.padding_idx is not None:  # its vector takes no gradient, as in torch
            d = d * (read != layer.padding_idx)[:, :, None]
        return {"weight": OneHot(read, layer.num_embeddings, d)}
    if isinstance(layer, nn.LayerNorm):
        normal = nn.functional.layer_norm(read, layer.normalized_shape, eps=layer.eps)
        return {"weight": Plain(d, normal), "bias": Plain(d)}
    if (eps := _rms(layer)) is not None:
        return {"weight": Plain(d, read * torch.rsqrt(read.square().mean(dim=-1, keepdim=True) + eps))}
    weight = Outer(read, d) if isinstance(layer, Conv1D) else Outer(d, read)
    return {"weight": weight, "bias": Plain(d)}


def _rms(layer: nn.Module) -> float | None:
    """The epsilon of a norm by the root mean square; None of other layers."""
    weights = dict(layer.named_parameters(recurse=False))
    if set(weights) != {"weight"} or weights["weight"].dim() != 1:
        return None
    found = getattr(layer, "variance_epsilon", None)
    if found is None and "RMSNorm" in type(layer).__name__:
        found = getattr(layer, "eps", None)
    return None if found is None else float(found)


def _owned(model: nn.Module, parameters: Mapping[str, Tensor]) -> dict[nn.Module, dict[str, str]]:
    """The layers that own the parameters: for each, its own names of them, and their full names."""
    full = {id(model.get_parameter(name)): name for name in parameters}
    owners: dict[nn.Module, dict[str, str]] = {}
    for layer in model.modules():
        for name, weight in layer.named_parameters(recurse=False):
            if id(weight) in full:
                if not _known(layer):
                    raise NotByRow
                owners.setdefault(layer, {})[name] = full[id(weight)]
    return owners


def _known(layer: nn.Module) -> bool:
    """Whether `_terms` knows what a row adds to its parameters; that it is so is tried once for each model."""
    if isinstance(layer, nn.LayerNorm):
        return len(layer.normalized_shape) == 1
    if isinstance(layer, nn.Embedding):
        return layer.max_norm is None
    return isinstance(layer, nn.Linear | Conv1D) or _rms(layer) is not None
