"""The units of a transformer: the states of its layers, what its heads add up, its feed-forward neurons.

    layer     [rows, pieces, 1, size]        the output of a module that stands in a list of modules and attends once
    head      [rows, pieces, heads, size]    what the attention gives, before the projection behind it (attending.py)
    neuron    [rows, pieces, neurons, 1]     what goes into the last linear map of a layer

Layers are counted in the order in which they are called, so that layers that share their weights are several. Which
modules are layers is found by running the model once, and not by their names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from torch import Tensor, nn

from assay.errors import Unanswerable
from assay.models.transformers.attending import Attended, Call, attending, layers_in, layers_watched
from assay.questions.intervene import Part

Seen: TypeAlias = Callable[[Part, int, Tensor], Tensor]  # kind, layer, its units -> the units to go on with


@dataclass(frozen=True)
class Skeleton:
    """The layers of a model and the last linear map of each, as often as they are called, with their units."""

    layers: tuple[nn.Module, ...]
    ends: tuple[nn.Module, ...]
    heads: tuple[int, ...]
    neurons: tuple[int, ...]


def skeleton(model: nn.Module, run: Callable[[], Any]) -> Skeleton:
    """Found by running it; an error where it is not built of layers that attend once."""
    heads: list[int] = []
    open_calls: list[tuple[nn.Module, int]] = []
    layers: list[nn.Module] = []
    idle: set[nn.Module] = set()

    def enter(module: nn.Module, args: Any, kwargs: Any) -> None:
        open_calls.append((module, len(heads)))

    def leave(module: nn.Module, args: Any, output: Any) -> None:
        _, before = open_calls.pop()
        if len(heads) == before + 1 and not any(inner in layers_in(module) for inner in layers[-1:]):
            layers.append(module)
        elif len(heads) != before:
            idle.add(module)

    def seen(call: Call) -> Attended:
        output, weights = call.eager()
        heads.append(weights.shape[1])
        return output, weights

    with attending(seen), layers_watched(model, enter, leave):
        run()
    if not layers or len(layers) != len(heads):
        found = f"{len(layers)} layers that attend once, and {len(heads)} calls of attention"
        raise Unanswerable(f"the parts of {type(model).__name__} cannot be told apart: there are {found}.")
    ends = tuple(map(_last_linear, layers))
    return Skeleton(tuple(layers), ends, tuple(heads), tuple(map(_inputs, ends)))


@contextmanager
def watched(frame: Skeleton, see: Seen, parts: set[Part]) -> Iterator[None]:
    """Within it, the units of these kinds are shown to `see` in every layer, and replaced by what it returns."""
    calls: dict[Part, int] = defaultdict(int)

    def next_of(part: Part) -> int:
        calls[part] += 1
        return calls[part] - 1

    def attended(call: Call) -> Attended:
        output, weights = call.eager()
        return see("head", next_of("head"), output), weights

    def entered(module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        units = args[0]
        if units.dim() != 3:
            raise Unanswerable(f"the neurons of {type(module).__name__} do not come as one vector a piece.")
        return (see("neuron", next_of("neuron"), units[..., None])[..., 0], *args[1:])

    def left(module: nn.Module, args: Any, output: Any) -> Any:
        states = output if isinstance(output, Tensor) else output[0]
        new = see("layer", next_of("layer"), states[:, :, None])[:, :, 0]
        return new if isinstance(output, Tensor) else (new, *output[1:])

    with ExitStack() as hooks:
        hooks.enter_context(attending(attended if "head" in parts else Call.eager))
        if "neuron" in parts:
            handles = [end.register_forward_pre_hook(entered) for end in dict.fromkeys(frame.ends)]
            for handle in handles:
                hooks.callback(handle.remove)
        if "layer" in parts:
            outer = [layer.register_forward_hook(left) for layer in dict.fromkeys(frame.layers)]
            for handle in outer:
                hooks.callback(handle.remove)
        yield


def _last_linear(layer: nn.Module) -> nn.Module:
    """The map at the end of the feed-forward part; transformers has linear maps of two kinds."""
    found = [part for part in layer.modules() if isinstance(part, nn.Linear) or type(part).__name__ == "Conv1D"]
    if not found:
        raise Unanswerable(f"the layer {type(layer).__name__} has no linear map, so it has no neurons.")
    return found[-1]


def _inputs(linear: nn.Module) -> int:
    weight: Tensor = linear.weight  # type: ignore[assignment]
    return int(weight.shape[0] if type(linear).__name__ == "Conv1D" else weight.shape[1])
