"""Attention, rollout and value zeroing by hand: one row, eager attention, and the piece whose state becomes the answer.

Which piece that is, the gradient says: of the explained number with respect to the last states.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from sweep.slow_rows import NoSuchNumber, Row, SlowTask

_ZEROED = "sweep_zeroed"
_ALIKE = 1e-4  # an answer that does not mind the order of the states it reads is as near as this
_ANOTHER = 1e-3  # a difference of answers that is no rounding
_LEAST = 1e-6  # a gradient that is smaller than this share of the largest is none


def eager(task: SlowTask) -> Any:
    """A copy of the model that attends by its own slow code, as only that returns weights."""
    if not hasattr(task, "_eager"):
        task._eager = deepcopy(task.model)  # type: ignore[attr-defined]
        task._eager.set_attn_implementation("eager")  # type: ignore[attr-defined]
    return task._eager  # type: ignore[attr-defined]


def whole(task: SlowTask) -> Row:
    row = task.row(task.words)
    if row.pieces is None:
        raise NoSuchNumber("the tokenizer does not tell which piece is which word's")
    return row


def readers(task: SlowTask) -> list[int]:
    """The pieces whose last state the explained number depends on."""
    row = whole(task)
    value, states = _last_states(task, row)
    n = row.inputs["input_ids"].shape[1]
    slope = None if states is None else torch.autograd.grad(value, states, allow_unused=True)[0]
    if slope is None or n not in slope.shape[:2]:
        raise NoSuchNumber("no piece's last state becomes the answer")
    slopes = slope.reshape(-1, slope.shape[-1])[:n]
    sizes = slopes.norm(dim=-1)
    found = [i for i in range(n) if sizes[i] > _LEAST * sizes.max()]
    if type(task).__name__ in ("Masked", "Causal") and len(found) == len(task.tokens):  # type: ignore[attr-defined]
        return found[:1]  # of several tokens in a row that are asked for, the first
    if len(found) > 1 and abs(_turned(task, row, found) - float(value)) > _ALIKE:
        raise NoSuchNumber(f"the answer reads {len(found)} pieces, and not their mean")
    return found


def _turned(task: SlowTask, row: Row, places: list[int]) -> float:
    """The explained number with the last states at these places in the opposite order: a mean does not mind."""

    def turn(module: nn.Module, args: Any, output: Any) -> Any:
        states = output.last_hidden_state.clone()
        states[:, places] = states[:, places[::-1]]
        output["last_hidden_state"] = states
        return output

    handle = task.model.base_model.register_forward_hook(turn)
    try:
        with torch.no_grad():
            return float(row.read(task.model(**row.inputs)))
    finally:
        handle.remove()


def _last_states(task: SlowTask, row: Row) -> tuple[Tensor, Tensor | None]:
    """The explained number, and the states that the head is given: what the body gives, or the last of all states."""
    seen: list[Any] = []
    handle = task.model.base_model.register_forward_hook(lambda module, args, output: seen.append(output))
    try:
        out = task.model(**row.inputs, output_hidden_states=True)
    finally:
        handle.remove()
    given = [one[0] if isinstance(one, tuple) else getattr(one, "last_hidden_state", None) for one in seen]
    found = given[0] if given and isinstance(given[0], Tensor) else (getattr(out, "hidden_states", None) or [None])[-1]
    return row.read(out), found


def read_from(task: SlowTask, flow: Tensor) -> Tensor:
    """The row of the piece that the answer reads; where it reads the mean of several, the mean of their rows."""
    return flow[readers(task)].mean(0)


def maps(task: SlowTask) -> list[Tensor]:
    """The weights of every layer [heads, pieces, pieces]."""
    row = whole(task)
    with torch.no_grad():
        out = eager(task)(**row.inputs, output_attentions=True)
    found = getattr(out, "attentions", None)
    if abs(float(row.read(out)) - task.value(task.words)) > _ANOTHER * max(1, abs(task.value(task.words))):
        raise NoSuchNumber("asked for its attention maps, the model gives another answer")
    n = row.inputs["input_ids"].shape[1]
    if not found or any(not isinstance(one, Tensor) or one.dim() != 4 or one.shape[2:] != (n, n) for one in found):
        shapes = {tuple(one.shape) if isinstance(one, Tensor) else None for one in found or ()}
        raise NoSuchNumber(f"the attention maps are {shapes or 'not there'}, for {n} pieces")
    return [one[0].double() for one in found]


def per_word(task: SlowTask, numbers: Tensor) -> np.ndarray:
    return np.array([float(numbers[own].sum()) for own in whole(task).pieces or ()])


def attention(task: SlowTask) -> np.ndarray:
    return per_word(task, read_from(task, maps(task)[-1].mean(0)))


def attention_rollout(task: SlowTask) -> np.ndarray:
    layers = [one.mean(0) for one in maps(task)]
    if len(layers) != layers_of(task):
        raise NoSuchNumber(f"{len(layers)} of {layers_of(task)} layers have attention maps")
    flow = torch.eye(len(layers[0]), dtype=torch.float64)
    for layer in layers:
        flow = (0.5 * layer + 0.5 * torch.eye(len(layer))) @ flow
    return per_word(task, read_from(task, flow))


def layers_of(task: SlowTask) -> int:
    return int(getattr(task.model.config, "num_hidden_layers", 0))


def value_zeroing(task: SlowTask) -> np.ndarray:
    """A whole forward pass for every layer and every piece whose value vector is zero there."""
    row, model = whole(task), eager(task)
    if not getattr(model, "_can_set_attn_implementation", lambda: False)():
        raise NoSuchNumber("its attention is not done by a function that another could stand for")
    n, fresh = row.inputs["input_ids"].shape[1], {"use_cache": False} if "use_cache" in task.takes else {}
    with _zeroing(model) as watch, torch.no_grad():
        plain = watch.states(row, fresh)
        rolled = torch.eye(n, dtype=torch.float64)
        for k, states in enumerate(plain):
            turned = torch.zeros(n, n, dtype=torch.float64)
            for j in range(n):
                turned[:, j] = _distance(states, watch.states(row, fresh, layer=k, piece=j)[k])
            rolled = _normalised(turned) @ rolled
    return per_word(task, read_from(task, rolled))


class _Zeroing:
    """Runs a model with one value vector of one attention at zero; keeps what each layer that attends gives."""

    def __init__(self, model: Any) -> None:
        self.model, self.layer, self.piece = model, -1, -1
        self.attended: list[nn.Module] = []
        lists = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
        self.blocks = list(dict.fromkeys(child for part in lists for child in part))

    def attend(
        self, module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Any = None, **settings: Any
    ) -> Any:
        if len(self.attended) == self.layer:
            value = value.clone()
            value[:, :, self.piece] = 0
        self.attended.append(module)
        return _own_eager(module)(module, query, key, value, attention_mask, **settings)

    def states(self, row: Row, fresh: dict[str, Any], layer: int = -1, piece: int = -1) -> list[Tensor]:
        """What each layer gives [pieces, size], in the order in which they are run."""
        self.layer, self.piece, self.attended = layer, piece, []
        found: list[Tensor] = []

        def keep(module: nn.Module, args: Any, output: Any) -> None:
            inside = set(module.modules())
            if len(self.attended) == len(found) + 1 and self.attended[-1] in inside:
                found.append((output if isinstance(output, Tensor) else output[0])[0].double())

        handles = [block.register_forward_hook(keep) for block in self.blocks]
        try:
            self.model(**row.inputs, **fresh)
        finally:
            for handle in handles:
                handle.remove()
        if not found or len(found) != len(self.attended):
            raise NoSuchNumber(f"{len(self.attended)} calls of attention in {len(found)} layers")
        return found


def _distance(one: Tensor, two: Tensor) -> Tensor:
    return 1 - nn.functional.cosine_similarity(one, two, dim=-1, eps=1e-30)


def _normalised(turned: Tensor) -> Tensor:
    turned = turned.clamp_min(0)
    turned = torch.where(turned < 1e-12, torch.zeros_like(turned), turned)
    total = turned.sum(-1, keepdim=True)
    return torch.where(total > 1e-12, turned / total.clamp_min(1e-30), torch.eye(len(turned), dtype=turned.dtype))


@contextmanager
def _zeroing(model: Any) -> Iterator[_Zeroing]:
    """Within it the model attends by our function."""
    watch = _Zeroing(model)
    AttentionInterface.register(_ZEROED, watch.attend)
    AttentionMaskInterface.register(_ZEROED, eager_mask)
    model.set_attn_implementation(_ZEROED)
    try:
        yield watch
    finally:
        model.set_attn_implementation("eager")


def _own_eager(module: nn.Module) -> Any:
    for kind in type(module).__mro__:
        function = getattr(sys.modules.get(kind.__module__), "eager_attention_forward", None)
        if function is not None:
            return function
    raise NoSuchNumber("the model's file has no eager attention that a function could stand for")
