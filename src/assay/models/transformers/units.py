"""The units of a transformer: the states of its layers, what its heads add up, its feed-forward neurons.

    layer     [rows, pieces, 1, size]        the output of a module that stands in a list of modules and attends once
    head      [rows, pieces, heads, size]    what the attention gives, before the projection behind it (attending.py)
    neuron    [rows, pieces, neurons, 1]     what goes into the linear map at the end of a layer's feed-forward part

Layers are counted in the order in which they are called, so that layers that share their weights are several. Which
modules are layers, and which map is the last that a layer calls, is found by running the model once, and not by their
names: of modules around one attention the outermost is the layer. A layer whose feed-forward part is several experts,
or that has none, has no neurons.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from torch import Tensor, nn

from assay.errors import Unanswerable
from assay.models.transformers.attending import Attended, Call, attending, layers_watched
from assay.questions.intervene import Part

Seen: TypeAlias = Callable[[Part, int, Tensor], Tensor]  # kind, layer, its units -> the units to go on with


@dataclass(frozen=True)
class Skeleton:
    """The layers of a model and the map behind the neurons of each, as often as they are called, with their units."""

    layers: tuple[nn.Module, ...]
    ends: tuple[nn.Module | None, ...]
    heads: tuple[int, ...]
    neurons: tuple[int, ...]


class _Finding:
    """One forward pass in which the layers are found, and the linear maps that each calls behind its attention."""

    def __init__(self) -> None:
        self.heads: list[int] = []
        self.layers: list[nn.Module] = []
        self.behind: list[list[nn.Module]] = []  # by layer, those that give a state
        self._open: list[int] = []
        self._called: list[tuple[nn.Module, int]] = []  # since the last attention, and how wide what it gives is

    def enter(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        self._open.append(len(self.heads))

    def leave(self, module: nn.Module, args: Any, output: Any) -> None:
        if len(self.heads) != self._open.pop() + 1:
            return
        if len(self.layers) == len(self.heads):  # around a module that was taken for the layer
            self.layers.pop()
            self.behind.pop()
        states = output if isinstance(output, Tensor) else output[0]
        if states.dim() != 3:
            raise Unanswerable(f"the layer {type(module).__name__} does not give one vector a piece.")
        self.layers.append(module)
        self.behind.append([part for part, size in self._called if size == states.shape[-1]])

    def attended(self, call: Call) -> Attended:
        output, weights = call.eager()
        self.heads.append(weights.shape[1])
        self._called.clear()
        return output, weights

    def mapped(self, module: nn.Module, args: Any, output: Any) -> None:
        """A hook of the maps that give one vector a piece."""
        if isinstance(output, Tensor) and args[0].dim() == output.dim() == 3:  # a router gives several tensors
            self._called.append((module, output.shape[-1]))


def skeleton(model: nn.Module, run: Callable[[], Any]) -> Skeleton:
    """Found by running it; an error where it is not built of layers that attend once."""
    found = _Finding()
    handles = [part.register_forward_hook(found.mapped) for part in model.modules() if _is_linear(part)]
    try:
        with attending(found.attended), layers_watched(model, found.enter, found.leave):
            run()
    finally:
        for handle in handles:
            handle.remove()
    layers, heads = tuple(found.layers), tuple(found.heads)
    if not layers or len(layers) != len(heads):
        told = f"{len(layers)} layers that attend once, and {len(heads)} calls of attention"
        raise Unanswerable(f"the parts of {type(model).__name__} cannot be told apart: there are {told}.")
    ends = tuple(map(_end, layers, found.behind))
    return Skeleton(layers, ends, heads, tuple(map(_inputs, ends)))


@contextmanager
def watched(frame: Skeleton, see: Seen, parts: set[Part]) -> Iterator[None]:
    """Within it, the units of these kinds are shown to `see` in every layer, and replaced by what it returns."""
    calls: dict[Part, int] = defaultdict(int)

    numbers = {"neuron": [i for i, end in enumerate(frame.ends) if end is not None]}

    def next_of(part: Part) -> int:
        calls[part] += 1
        return numbers.get(part, range(len(frame.layers)))[calls[part] - 1]

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
            ends = [end for end in dict.fromkeys(frame.ends) if end is not None]
            handles = [end.register_forward_pre_hook(entered) for end in ends]
            for handle in handles:
                hooks.callback(handle.remove)
        if "layer" in parts:
            outer = [layer.register_forward_hook(left) for layer in dict.fromkeys(frame.layers)]
            for handle in outer:
                hooks.callback(handle.remove)
        yield


def _is_linear(part: nn.Module) -> bool:
    """Transformers has linear maps of two kinds."""
    return isinstance(part, nn.Linear) or type(part).__name__ == "Conv1D"


def _end(layer: nn.Module, behind: Sequence[nn.Module]) -> nn.Module | None:
    """The last map that the layer calls; none where that is the projection behind the heads, or one of experts."""
    parts = [*layer.named_modules()]
    experts = any("expert" in f"{name} {type(part).__name__}".lower() for name, part in parts)
    return behind[-1] if len(behind) > 1 and not experts else None


def _inputs(linear: nn.Module | None) -> int:
    if linear is None:
        return 0
    weight: Tensor = linear.weight  # type: ignore[assignment]
    return int(weight.shape[0] if type(linear).__name__ == "Conv1D" else weight.shape[1])
