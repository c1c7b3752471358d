"""Whether a forward pass changes a model: its modules, their settings, or the tensors that they keep."""

from __future__ import annotations

from typing import Any, TypeAlias

from torch import Tensor, nn

Snapshot: TypeAlias = list[tuple[int, dict[str, Any], list[tuple[int, int]]]]

_PLAIN = (str, int, float, bool, type(None), tuple)


def snapshot(model: nn.Module) -> Snapshot:
    """What would be different if the model had changed; its modules are known by id, so it must not outlive them."""
    return [
        (
            id(module),
            {name: value for name, value in vars(module).items() if isinstance(value, _PLAIN)},
            [(id(tensor), version(tensor)) for tensor in module.buffers(recurse=False)],
        )
        for module in model.modules()
    ]


def version(tensor: Tensor) -> int:
    """How often a tensor was written to, where torch counts it."""
    return 0 if tensor.is_inference() else tensor._version
