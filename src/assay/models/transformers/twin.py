"""Twins of a torch model: modules of their own around the model's own weights."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from torch import Tensor, nn

CAPTURING = "_output_capturing_hooks_installed"  # transformers' own note on a model that it has hung its hooks on
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def twin(model: Any) -> Any:
    """A copy with modules of its own and the model's own weights."""
    return deepcopy(model, {id(parameter): parameter for parameter in model.parameters()})


def frozen_twin(model: Any) -> Any:
    """A copy to be asked only: in evaluation mode, its weights without gradients, in the memory of the model's own.

    Buffers, and what others have hung on the model, are the model's own too.
    """
    shared: dict[int, Any] = {id(part): part for part in _kept(model)}
    copy = deepcopy(model, shared | {id(weight): _frozen(weight) for weight in model.parameters()})
    for module in copy.modules():
        module.training = False
    return copy


def _frozen(weight: nn.Parameter) -> nn.Parameter:
    """The same numbers in the same place; kinds of weights that are not torch's own are taken as they are."""
    return nn.Parameter(weight.detach(), requires_grad=False) if type(weight) is nn.Parameter else weight


def _kept(model: Any) -> Iterator[Any]:
    """Tensors that are no weights, and hooks: a bound method's object must not be copied with it."""
    for module in model.modules():
        yield from (value for value in (*module.__dict__.values(), *module._buffers.values()) if _is_tensor(value))
        for kind in _HOOKS:
            yield from getattr(module, kind, {}).values()


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def sendable(model: Any) -> Any:
    """The model, or a twin without the hooks that transformers leaves on it: functions that cannot be pickled."""
    if not any(getattr(module, CAPTURING, False) for module in model.modules()):
        return model
    bare = twin(model)
    for module in bare.modules():
        module.__dict__.pop(CAPTURING, None)
        for number, hook in list(module._forward_hooks.items()):
            if getattr(hook, "__module__", "") == "transformers.utils.output_capturing":
                del module._forward_hooks[number]
    return bare
