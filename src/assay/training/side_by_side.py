"""Networks of one shape as one, for training on a card: small networks leave it idle, several at once cost hardly more.

    several = SideBySide(network, 7)        parameters [7, ...] under the names of the network
    several(**inputs).logits                [7, texts, labels]

All are asked the same inputs by torch.func.vmap. Their LSTMs are one large LSTM whose weights are zero between any two
of them, which makes as many calls as a single one: for each gate

    W = diag(W_1, ..., W_7)        x = (x_1, ..., x_7)        h = (h_1, ..., h_7)

No number of one network depends on another one; only the order of sums differs, so it does not stand to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from transformers.modeling_outputs import SequenceClassifierOutput

_GATES = 4


class SideBySide(nn.Module):
    """So many copies of an attentive network, which learn apart from each other.

    `kept` holds the parameters of each as they were when `keep` was last called for it.
    """

    def __init__(self, network: nn.Module, count: int) -> None:
        super().__init__()
        stacked = {
            name: tensor.detach().expand(count, *tensor.shape).clone() for name, tensor in network.named_parameters()
        }
        _plant(self, {name: nn.Parameter(tensor) for name, tensor in stacked.items()}, nn.Module.register_parameter)
        self.kept = nn.Module()
        _plant(self.kept, {name: tensor.clone() for name, tensor in stacked.items()}, nn.Module.register_buffer)
        self._plain = (_with_own_lstms(network),)  # in a tuple: its parameters are not ours

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def forward(self, **inputs: Any) -> SequenceClassifierOutput:
        """What all of them say of the inputs, and where they look [networks, texts, ...]."""
        (plain,) = self._plain
        plain.train(self.training)

        def one(own: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
            found = functional_call(plain, dict(own), (), {**inputs, "output_attentions": True})
            return found.logits, found.attentions[0]

        logits, attention = vmap(one)(dict(self.named_parameters()))
        return SequenceClassifierOutput(logits=logits, attentions=(attention,))

    def keep(self, chosen: Tensor) -> None:
        """Remember the chosen networks as they are now."""
        there = dict(self.kept.named_buffers())
        with torch.no_grad():
            for name, tensor in self.named_parameters():
                there[name][chosen] = tensor[chosen]

    def weights(self, place: int) -> dict[str, Tensor]:
        """The kept parameters of one network, under its own names."""
        return {name: tensor[place].clone() for name, tensor in self.kept.named_buffers()}


def _plant(root: nn.Module, tensors: Mapping[str, Any], plant: Callable[[nn.Module, str, Any], None]) -> None:
    """Tensors under dotted names, as modules within modules."""
    for name, tensor in tensors.items():
        *path, leaf = name.split(".")
        at = root
        for part in path:
            if part not in at._modules:
                at.add_module(part, nn.Module())
            at = at.get_submodule(part)
        plant(at, leaf, tensor)


def _with_own_lstms(network: nn.Module) -> nn.Module:
    """A copy whose LSTMs vmap can put together; torch knows no way of its own."""
    plain = deepcopy(network)
    for parent in list(plain.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.LSTM:
                setattr(parent, name, _Lstm(child.input_size, child.hidden_size, batch_first=True))
    return plain


class _Lstm(nn.LSTM):
    """One layer in one direction."""

    def forward(self, vectors: Any, hx: Any = None) -> Any:
        weights = self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0
        return (_Together.apply(vectors, *weights),)  # type: ignore[no-untyped-call]


class _Together(torch.autograd.Function):
    """An LSTM that vmap runs as a single large one. Only its rule for vmap is ever differentiated, by torch."""

    @staticmethod
    def forward(vectors: Tensor, *weights: Tensor) -> Tensor:
        return _states(vectors, *weights)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing is needed."""

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *given: Tensor) -> tuple[Tensor, int]:
        count = info.batch_size
        vectors, *weights = (
            one.expand(count, *one.shape) if dim is None else one.movedim(dim, 0)
            for one, dim in zip(given, in_dims, strict=True)
        )
        wide = vectors.permute(1, 2, 0, 3).flatten(2)
        found = _states(wide, *map(_block_diagonal, weights[:2]), *map(_joined, weights[2:]))
        return found.view(*found.shape[:2], count, -1).permute(2, 0, 1, 3), 0


def _states(vectors: Tensor, *weights: Tensor) -> Tensor:
    """The states [texts, places, size]; weights lie in one piece, else cuDNN copies them and warns."""
    ends = [0]
    for one in weights:
        ends.append(ends[-1] + one.numel())
    whole = torch.cat([one.flatten() for one in weights])
    views = [whole[a:b].view(one.shape) for a, b, one in zip(ends, ends[1:], weights, strict=False)]
    start = vectors.new_zeros(1, len(vectors), views[1].shape[1])
    states: Tensor = torch.lstm(vectors, (start, start), views, True, 1, 0.0, True, False, True)[0]
    return states


def _block_diagonal(weights: Tensor) -> Tensor:
    """[networks, 4 sizes, inputs] as one matrix, gate by gate; by one product, for every call costs time on a card."""
    count, rows, inputs = weights.shape
    gates = weights.reshape(count, _GATES, rows // _GATES, 1, inputs).transpose(0, 1)
    own = torch.eye(count, dtype=weights.dtype, device=weights.device)[:, None, :, None]
    return (gates * own).reshape(count * rows, count * inputs)


def _joined(biases: Tensor) -> Tensor:
    """[networks, 4 sizes] as one vector, gate by gate."""
    return biases.reshape(len(biases), _GATES, -1).transpose(0, 1).flatten()
