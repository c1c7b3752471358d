"""Low-rank changes to the linear layers of an encoder, which itself stays frozen.

    y = W x + s B A x,    A [rank, in] random, B [out, rank] zero at the start;    afterwards  W <- W + s B A

Hu et al. (2021), LoRA, arXiv:2106.09685. Merged at the end, so that what is saved is an ordinary model.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from assay.errors import BadInput

_SCALE = 2.0


class LowRank(nn.Module):
    """A frozen linear layer and its change."""

    def __init__(self, frozen: nn.Linear, rank: int) -> None:
        super().__init__()
        self.frozen = frozen
        self.down = nn.Parameter(frozen.weight.new_empty(rank, frozen.in_features))
        self.up = nn.Parameter(frozen.weight.new_zeros(frozen.out_features, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, x: Tensor) -> Tensor:
        changed: Tensor = self.frozen(x) + _SCALE * linear(linear(x, self.down), self.up)
        return changed

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """The linear layer that answers the same."""
        self.frozen.weight += _SCALE * self.up @ self.down
        return self.frozen


def add(encoder: Any, rank: int) -> None:
    """Freeze the encoder and give each of its linear layers a change to learn."""
    layers = [name for name, layer in encoder.named_modules() if isinstance(layer, nn.Linear)]
    if not layers:
        raise BadInput(f"{type(encoder).__name__} has no linear layers for low-rank training; train it whole (rank=0).")
    encoder.requires_grad_(False)
    for name in layers:
        _put(encoder, name, LowRank(encoder.get_submodule(name), rank))


def merge(encoder: Any) -> None:
    """Take the changes into the weights; all can be trained again."""
    for name in [name for name, layer in encoder.named_modules() if isinstance(layer, LowRank)]:
        _put(encoder, name, encoder.get_submodule(name).merged())
    encoder.requires_grad_(True)


def _put(encoder: Any, name: str, layer: nn.Module) -> None:
    parent, _, leaf = name.rpartition(".")
    setattr(encoder.get_submodule(parent), leaf, layer)
