"""Heads, layers and neurons at zero by hand: one row, hooks on what is called, in the order in which it is called.

A layer is the outermost member of a list of modules that attends once. Its heads are what its attention gives; its
neurons what goes into the last linear map that is called behind the attention and gives a state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask
from transformers.pytorch_utils import Conv1D

from assay.explanations.case import Case
from assay.questions.base import Conversation
from assay.questions.intervene import Activations, Intervene, Site, UnitCounts
from sweep.slow_inside import _own_eager, eager, whole
from sweep.slow_rows import NoSuchNumber, SlowTask

_WATCHED = "sweep_watched"
Change = Callable[[str, int, Tensor], Tensor]  # head, neuron or layer; its number; [1, pieces, units, size]


def ask_heads(case: Case) -> Conversation[np.ndarray]:
    """A head everywhere, all heads of a layer at the last piece, the mean of a head, and what a layer gives."""
    last = len((yield UnitCounts()).heads) - 1
    zero = [(Site(0, "head", 1),), (Site(last, "head", None, -1),), (Site(0, "layer", None, -1),)]
    found = [case.value((yield Intervene(case.text, zero, "zero")))]
    found += [case.value((yield Intervene(case.text, [(Site(0, "head", 2),), (Site(last, "layer"),)], "mean")))]
    return np.concatenate(found)


def heads(task: SlowTask) -> np.ndarray:
    watch = _Watch(task)
    watch.run()
    last = len(watch.layers) - 1
    sites = [("head", 0, 1, None, 0), ("head", last, None, -1, 0), ("layer", 0, None, -1, 0)]
    return np.array([_with(watch, *site) for site in [*sites, ("head", 0, 2, None, 1), ("layer", last, None, None, 1)]])


def ask_neurons(case: Case) -> Conversation[tuple[np.ndarray, ...]]:
    """What the neurons of the first layer compute, and the number without one of them, and without all of the last."""
    last = len((yield UnitCounts()).neurons) - 1
    values = case.value((yield Intervene(case.text, [(Site(0, "neuron", 3),), (Site(last, "neuron"),)], "zero")))
    return (yield Activations(case.text, 0)).values, values


def neurons(task: SlowTask) -> tuple[np.ndarray, ...]:
    watch = _Watch(task)
    seen: list[Tensor] = []

    def keep(part: str, layer: int, units: Tensor) -> Tensor:
        if (part, layer) == ("neuron", 0):
            seen.append(units[0, :, :, 0])
        return units

    watch.run(keep)
    if not seen:
        raise NoSuchNumber("no one linear map behind the attention gives a state")
    values = [_with(watch, "neuron", *site) for site in ((0, 3, None, 0), (len(watch.layers) - 1, None, None, 0))]
    return seen[0].numpy(), np.array(values)


def _with(watch: _Watch, part: str, layer: int, unit: int | None, piece: int | None, mean: int) -> float:
    """The explained number with the unit at zero, or at its mean over the pieces."""

    def change(found: str, number: int, units: Tensor) -> Tensor:
        if (found, number) != (part, layer):
            return units
        new = units.clone()
        at = slice(None) if piece is None else [piece % units.shape[1]]
        which = slice(None) if unit is None else [unit]
        value = units.mean(1, keepdim=True).expand_as(units) if mean else torch.zeros_like(units)
        new[:, at, which] = value[:, at, which]
        return new

    return watch.run(change)


class _Watch:
    """Runs the row of a task; `layers` are what was found to be its layers in the last run."""

    def __init__(self, task: SlowTask) -> None:
        self.row, self.model = whole(task), eager(task)
        if not getattr(self.model, "_can_set_attn_implementation", lambda: False)():
            raise NoSuchNumber("its attention is not done by a function that another could stand for")
        if getattr(self.model.config, "is_encoder_decoder", False):
            raise NoSuchNumber("it has an encoder and a decoder")
        self.fresh = {"use_cache": False} if "use_cache" in task.takes else {}
        lists = [part for part in self.model.modules() if isinstance(part, nn.ModuleList)]
        self.members = list(dict.fromkeys(child for part in lists for child in part))
        self.layers: dict[int, nn.Module] = {}
        self.behind: dict[int, list[Any]] = {}  # of every layer the linear maps that are called behind its attention
        self.ends = self._ends()

    def run(self, change: Change = lambda part, layer, units: units) -> float:
        self.change, self.calls, self.called = change, 0, []
        with self._watched(), torch.no_grad():
            found = float(self.row.read(self.model(**self.row.inputs, **self.fresh)))
        if len(self.layers) != self.calls:
            raise NoSuchNumber(f"{self.calls} calls of attention in {len(self.layers)} layers")
        return found

    def _attend(
        self, module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Any = None, **settings: Any
    ) -> Any:
        output, weights = _own_eager(module)(module, query, key, value, attention_mask, **settings)
        self.calls += 1
        return self.change("head", self.calls - 1, output), weights

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Layers from the inside out: what comes out of the outermost is what counts, so inner ones change nothing."""
        entered: list[int] = []
        AttentionInterface.register(_WATCHED, self._attend)
        AttentionMaskInterface.register(_WATCHED, eager_mask)
        self.model.set_attn_implementation(_WATCHED)

        def enter(module: nn.Module, args: Any) -> None:
            entered.append(self.calls)

        def leave(module: nn.Module, args: Any, output: Any) -> Any:
            if self.calls != entered.pop() + 1:
                return output
            outer = self.layers.get(self.calls - 1)
            if outer is None or outer in module.modules():
                self.layers[self.calls - 1] = module
            if self.layers[self.calls - 1] is not module:
                return output
            self.behind[self.calls - 1] = [call[1:] for call in self.called if call[0] == self.calls - 1]
            states = output if isinstance(output, Tensor) else output[0]
            new = self.change("layer", self.calls - 1, states[:, :, None])[:, :, 0]
            return new if isinstance(output, Tensor) else (new, *output[1:])

        def neuron(module: nn.Module, args: Any) -> Any:
            return (self.change("neuron", self.calls - 1, args[0][..., None])[..., 0], *args[1:])

        handles = [module.register_forward_pre_hook(enter) for module in self.members]
        handles += [module.register_forward_hook(leave) for module in self.members]
        handles += [end.register_forward_pre_hook(neuron) for end in set(self.ends)]
        try:
            yield
        finally:
            self.model.set_attn_implementation("eager")
            for handle in handles:
                handle.remove()

    def _ends(self) -> list[nn.Module]:
        """In every layer the linear map that is called last, if it gives a state and is called behind the attention."""
        self.ends, linear = [], {p for m in self.members for p in m.modules() if isinstance(p, nn.Linear | Conv1D)}
        handles = [one.register_forward_hook(self._note) for one in linear]
        try:
            self.run()
        finally:
            for handle in handles:
                handle.remove()
        found = []
        for number, layer in self.layers.items():
            calls = self.behind[number]  # of a layer without a feed-forward part, the projection behind the heads
            several = any("expert" in name for name, _ in layer.named_modules())
            if len(calls) < 2 or several or calls[-1][1] != 3 or calls[-1][2] != self._width():
                return []
            found.append(calls[-1][0])
        return found

    def _note(self, module: nn.Module, args: Any, output: Any) -> None:
        if isinstance(output, Tensor):
            self.called.append((self.calls - 1, module, args[0].dim(), output.shape[-1]))

    def _width(self) -> int:
        return int(self.model.config.get_text_config().hidden_size)
