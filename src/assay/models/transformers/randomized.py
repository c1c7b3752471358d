"""Copies of a model with some of its weights drawn anew, for checks that ask what an explanation owes to them.

    randomized:head:SEED          everything above the base model, as the architecture initialises it
    randomized:cascade:K:SEED     the head, what stands between it and the layers, and the top K layers
    randomized:all:SEED           everything, the embeddings too: an untrained model
    randomized:released:SEED      only the weight of the last linear layer, uniform after Glorot, its bias kept: the
                                  released code of Pham et al. (2022)

A copy shares with the model all weights that stay; new ones are drawn on the CPU from a seed of their own, so that
they are the same on every device, and the global generators are never touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import nn

from assay.errors import BadInput, Unanswerable
from assay.models.transformers.drawing import OwnDraws
from assay.models.transformers.twin import twin

_HOW = "randomized:head:SEED, randomized:cascade:LAYERS:SEED, randomized:all:SEED or randomized:released:SEED"


def randomized(model: Any, spec: str) -> Any:
    """The copy that the specification describes."""
    kind, *numbers = _read(spec)
    copy = twin(model)
    match kind, numbers:
        case "head", [seed]:
            _draw(copy, head(copy), seed)
        case "cascade", [layers, seed]:
            _draw(copy, [*head(copy), *_top(copy, layers)], seed)
        case "all", [seed]:
            _draw(copy, copy.children(), seed)
        case _:
            _draw_released(copy, numbers[-1])
    return copy


def layers_of(model: Any) -> list[nn.Module]:
    """The layers of the base model, from the embeddings up; those of an encoder before those of a decoder."""
    base = _base(model)
    return list(getattr(model, "stack", ())) if base is None else list(_stacked(base))


def head(model: Any) -> list[nn.Module]:
    """What stands above the base model; without a base model, the last linear layer."""
    base = _base(model)
    if base is None:
        return [_last_linear(model)]
    above = [child for child in model.children() if child is not base and any(True for _ in child.parameters())]
    return above or [_last_linear(model)]


def _read(spec: str) -> tuple[Any, ...]:
    what, _, rest = spec.partition(":")
    kind, *numbers = rest.split(":")
    wanted = {"head": 1, "cascade": 2, "all": 1, "released": 1}.get(kind)
    if what != "randomized" or wanted != len(numbers) or not all(number.isdecimal() for number in numbers):
        raise BadInput(f"{spec!r} is no way to derive a model; there are {_HOW}.")
    return kind, *map(int, numbers)


def _base(model: Any) -> Any:
    base = getattr(model, getattr(model, "base_model_prefix", "") or " ", None)
    return base if isinstance(base, nn.Module) else None


def _stacked(module: nn.Module) -> Iterator[nn.Module]:
    """The members of the outermost lists of modules."""
    for child in module.children():
        yield from child if isinstance(child, nn.ModuleList) else _stacked(child)


def _top(model: Any, count: int) -> list[nn.Module]:
    """The uppermost layers, and what the base model has above all of them, such as a pooler."""
    stack, base = layers_of(model), _base(model)
    if count > len(stack):
        raise BadInput(f"the model has {len(stack)} layers; {count} of them cannot be randomised.")
    if base is None:
        return stack[len(stack) - count :]
    children = list(base.children())
    holding = [i for i, c in enumerate(children) if isinstance(c, nn.ModuleList) or any(True for _ in _stacked(c))]
    return [*children[holding[-1] + 1 :], *stack[len(stack) - count :]]


def _last_linear(model: Any) -> nn.Module:
    linear = [module for module in model.modules() if isinstance(module, nn.Linear)]
    if not linear:
        raise Unanswerable(f"{type(model).__name__} has no linear layer in floating point, or none at all.")
    return linear[-1]


def _draw(model: Any, parts: Iterable[nn.Module], seed: int) -> None:
    """New weights for these parts, as the architecture draws them."""
    modules = list(dict.fromkeys(module for part in parts for module in part.modules()))
    homes = {module: _emptied(module) for module in modules}
    with OwnDraws(seed):
        for module in modules:
            _initialised(model, module)
    for module, devices in homes.items():
        for name, device in devices.items():
            if module.get_parameter(name).isnan().any():
                raise Unanswerable(f"{type(model).__name__} does not say how {type(module).__name__} is initialised.")
            module.get_parameter(name).data = module.get_parameter(name).data.to(device)


def _emptied(module: nn.Module) -> dict[str, torch.device]:
    """Puts NaN on the CPU in the place of a module's own weights; tells where they were."""
    homes = {}
    for name, old in list(module.named_parameters(recurse=False)):
        homes[name] = old.device
        new = torch.full_like(old, torch.nan, device="cpu")
        module.register_parameter(name, nn.Parameter(new, requires_grad=old.requires_grad))
    return homes


def _initialised(model: Any, module: nn.Module) -> None:
    if hasattr(model, "_init_weights"):
        model._init_weights(module)
    elif callable(reset := getattr(module, "reset_parameters", None)):
        reset()


def _draw_released(model: Any, seed: int) -> None:
    last = _last_linear(nn.ModuleList(head(model)))
    old = last.get_parameter("weight")
    new = torch.empty_like(old, device="cpu")
    with OwnDraws(seed):
        nn.init.xavier_uniform_(new)
    last.register_parameter("weight", nn.Parameter(new.to(old.device), requires_grad=old.requires_grad))
