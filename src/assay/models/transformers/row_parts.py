"""The gradients of single rows from one backward pass over all of them.

A layer's input a and the derivative d at its output, both [rows, pieces, size], say what each row adds to the gradient
of the layer's parameters:

    linear        sum over pieces of d a',  and d for the bias        layer norm     sum of d * normalised a,  and d
    embedding     d, added to the vectors of the row's own pieces

Goodfellow (2015), arXiv:1510.01799. So the gradients of rows cost one pass, and no weight is copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D


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
        read = args[0].detach()
        if len(read) == len(output) == 1 < self.rows:
            read, output = (part.expand(self.rows, *part.shape[1:]) for part in (read, output))
        started = output if output.requires_grad else output.detach().requires_grad_()
        self._calls.append((layer, read, started))
        return started

    def gradients(self, value: Tensor) -> Tensor:
        """[rows, parameters], of a sum over rows."""
        if not value.requires_grad:  # none of the layers was called: their weights are used elsewhere
            raise NotByRow
        derived = torch.autograd.grad(value, [output for _, _, output in self._calls], allow_unused=True)
        found: dict[str, Tensor] = {}
        for (layer, read, _), d in zip(self._calls, derived, strict=True):
            for name, part in self._parts(layer, read, d).items():
                full = self._names[layer].get(name)
                if full is not None:
                    found[full] = found[full] + part if full in found else part
        if set(found) != set(self.parameters):
            raise NotByRow
        return torch.cat([found[name].flatten(1) for name in self.parameters], dim=1)

    def _parts(self, layer: nn.Module, read: Tensor, d: Tensor | None) -> dict[str, Tensor]:
        """What each row adds to the gradient of the layer's own parameters."""
        if d is None or len(read) != self.rows or len(d) != self.rows:
            raise NotByRow
        d = d.reshape(self.rows, -1, d.shape[-1])
        if isinstance(layer, nn.Embedding):
            return {"weight": _embedded(layer, read.reshape(self.rows, -1), d)}
        a = read.reshape(self.rows, -1, read.shape[-1])
        if isinstance(layer, nn.LayerNorm):
            normal = nn.functional.layer_norm(a, layer.normalized_shape, eps=layer.eps)
            return {"weight": (d * normal).sum(dim=1), "bias": d.sum(dim=1)}
        weight = d.transpose(1, 2) @ a
        return {"weight": weight.transpose(1, 2) if isinstance(layer, Conv1D) else weight, "bias": d.sum(dim=1)}


def _embedded(layer: nn.Embedding, ids: Tensor, d: Tensor) -> Tensor:
    """The padding token's vector takes no gradient, as in torch."""
    if layer.padding_idx is not None:
        d = d * (ids != layer.padding_idx)[:, :, None]
    table = d.new_zeros(len(ids), layer.num_embeddings, layer.embedding_dim)
    return table.scatter_add_(1, ids[:, :, None].expand_as(d), d)


def _owned(model: nn.Module, parameters: Mapping[str, Tensor]) -> dict[nn.Module, dict[str, str]]:
    """The layers that own the parameters: for each, its own names of them, and their full names."""
    owners: dict[nn.Module, dict[str, str]] = {}
    for full in parameters:
        path, _, name = full.rpartition(".")
        layer = model.get_submodule(path)
        known = isinstance(layer, nn.Linear | Conv1D) or (
            isinstance(layer, nn.LayerNorm) and len(layer.normalized_shape) == 1
        )
        if not known and not (isinstance(layer, nn.Embedding) and layer.max_norm is None):
            raise NotByRow
        owners.setdefault(layer, {})[name] = full
    return owners
