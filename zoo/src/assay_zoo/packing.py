"""How weights are stored small: matrices in int8 with one scale per row, adapters as low-rank factors in fp16.

W[i, j] ~ scale[i] * q[i, j],  scale[i] = max_j |W[i, j]| / 127           (encoder)
W' = W + s * B A                                                          (adapter; Hu et al. 2021, arXiv:2106.09685)
"""

import torch
from torch import Tensor

SCALE = ".scale"
DOWN, UP = ".lora_down", ".lora_up"
LORA_SCALE = 2.0
State = dict[str, Tensor]


def quantise(state: State) -> State:
    """Matrices become int8 with a scale per row; vectors stay in fp32."""
    packed: State = {}
    for name, tensor in state.items():
        packed.update(quantise_rows(name, tensor) if tensor.dim() == 2 else {name: tensor.float().contiguous()})
    return packed


def quantise_rows(name: str, matrix: Tensor) -> State:
    """One matrix as int8 and its row scales."""
    scale = matrix.float().abs().amax(dim=1).clamp_min(1e-12) / 127
    return {name: (matrix.float() / scale[:, None]).round().to(torch.int8), name + SCALE: scale}


def dequantise(packed: State) -> State:
    """The fp32 state of an encoder stored by `quantise`."""
    names = [name for name in packed if not name.endswith(SCALE)]
    return {name: dequantise_one(packed, name) for name in names}


def dequantise_one(packed: State, name: str) -> Tensor:
    """One tensor in fp32."""
    scale = packed.get(name + SCALE)
    return packed[name].float() if scale is None else packed[name].float() * scale[:, None]


def merge(state: State, adapter: State) -> State:
    """The encoder with an adapter's low-rank changes added and its head put in."""
    merged = dict(state)
    for name, tensor in adapter.items():
        if name.endswith(DOWN):
            target = name.removesuffix(DOWN) + ".weight"
            merged[target] = merged[target] + LORA_SCALE * (
                adapter[name.removesuffix(DOWN) + UP].float() @ tensor.float()
            )
        elif not name.endswith(UP):
            merged[name] = tensor.float()
    return merged


def merge_writer(state: State, packed: State) -> State:
    """A writer with the low-rank changes of a packed adapter added; its factors are stored in int8."""
    return merge({name: tensor.float() for name, tensor in state.items()}, dequantise(packed))
