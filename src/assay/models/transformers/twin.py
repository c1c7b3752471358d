"""Twins of a torch model: modules of their own around the model's own weights."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

CAPTURING = "_output_capturing_hooks_installed"  # transformers' own note on a model that it has hung its hooks on


def twin(model: Any) -> Any:
    """A copy with modules of its own and the model's own weights."""
    return deepcopy(model, {id(parameter): parameter for parameter in model.parameters()})


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
