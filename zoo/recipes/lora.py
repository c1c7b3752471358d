"""Low-rank adapters on every linear layer of the encoder (Hu et al. 2021): y = W x + s B A x, with W frozen.

Written out rather than taken from a library: it is one small module, and what is saved is exactly what is merged.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from assay_zoo.packing import DOWN, LORA_SCALE, UP, State


class Lora(nn.Module):
    """A frozen linear layer with a trainable low-rank change; `dropout` hides a share of what the change reads."""

    def __init__(self, frozen: nn.Linear, rank: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.frozen = frozen
        self.dropout = nn.Dropout(dropout)
        self.down = nn.Parameter(torch.empty(rank, frozen.in_features, device=frozen.weight.device))
        self.up = nn.Parameter(torch.zeros(frozen.out_features, rank, device=frozen.weight.device))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, x: Tensor) -> Tensor:
        """The frozen layer's answer plus the low-rank change."""
        changed: Tensor = self.frozen(x) + LORA_SCALE * linear(linear(self.dropout(x), self.down), self.up)
        return changed


def add_lora(model: Any, rank: int) -> None:
    """Freeze the encoder and wrap each of its linear layers; the head stays trainable."""
    model.bert.embeddings.requires_grad_(False)
    model.bert.encoder.requires_grad_(False)
    for name, layer in list(model.bert.encoder.named_modules()):
        if isinstance(layer, nn.Linear):
            parent, _, leaf = name.rpartition(".")
            setattr(model.bert.encoder.get_submodule(parent), leaf, Lora(layer, rank))


def start_from(model: nn.Module, adapter: State) -> None:
    """Begin with the low-rank changes of another adapter, which already knows something useful, under a fresh head."""
    for name, tensor in model.named_parameters():
        if renaming(name).endswith((DOWN, UP)):
            tensor.data.copy_(adapter[renaming(name)])


def adapter_state(model: nn.Module) -> State:
    """What an adapter file holds, in fp16: the factors of every change, and the head."""
    renamed = {renaming(name): tensor for name, tensor in model.named_parameters() if tensor.requires_grad}
    return {name: tensor.detach().half().cpu().contiguous() for name, tensor in renamed.items()}


def renaming(name: str) -> str:
    """The name of a trainable tensor in the adapter file."""
    if name.endswith((".down", ".up")):
        stem, _, end = name.rpartition(".")
        return stem + (DOWN if end == "down" else UP)
    return name
