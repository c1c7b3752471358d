"""ValueZeroing: what each layer would give if the value vector of one piece were zero in its attention.

    C_l[i, j] = 1 - cos(x_i, x_i without v_j)        each row divided by its sum

One forward pass keeps what every layer was given; then each layer alone is run again, all pieces of all texts as one
batch, cut to the budget: in all, as much as a forward pass per piece. The attention is done by a function of our own,
registered with transformers, around the eager one of the model's own file. Its weights stay as they are, so in the
second run it only takes the one term away that holds v_j:

    sum over k of A_ik v_k   -   A_ij v_j
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from assay.errors import AssayError, Unanswerable
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.attending import ATTENTION, Attended, Call, attending, layers_watched
from assay.models.transformers.handlers.attention import attention_maps, inputs_of
from assay.models.transformers.inside import Inside
from assay.models.transformers.tasks.base import result_or_error
from assay.questions.answers import AttentionMaps
from assay.text.text import Text

_SMALLEST = 1e-12  # a row that turns by less in all keeps to itself: the rest is rounding
_SAME = 0.02  # how far a layer run by itself may be from what it gave before, relative to its size

Rows: TypeAlias = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Zeroed(Inside):
    """A text of which each piece loses its value vector in turn: as costly as that many texts."""

    def __len__(self) -> int:
        return len(self.pieces) * (len(self.pieces) + 1)


class ValueZeroingHandler(Handler[HuggingFace]):
    """How far the states of every layer turn, as attention maps of one head."""

    def encode(self, model: HuggingFace, rows: Sequence[Text]) -> list[Zeroed | AssayError]:
        return [result_or_error(_zeroed, model, text) for text in rows]

    def answer(self, model: HuggingFace, batch: Sequence[Zeroed]) -> Any:
        network, inputs = model.network, inputs_of(model, batch)
        # Layers that remember what they have read cannot be run again.
        with torch.no_grad(), network.without_cache(), network.attending_by(ATTENTION):
            lengths = [len(row.pieces) for row in batch]
            return batch, turned(network.model, inputs, lengths, model.preferred_tokens)

    def collect(self, model: HuggingFace, outputs: Sequence[Any]) -> list[AttentionMaps]:
        return [attention_maps(row, layers, i) for batch, layers in outputs for i, row in enumerate(batch)]


def _zeroed(model: HuggingFace, text: Text) -> Zeroed:
    pieces = model.task.pieces(text)
    return Zeroed(len(text), pieces, model.readers(text, pieces))


@dataclass(frozen=True)
class _Outcome:
    """One call of attention: weights [texts, heads, from, to], values [texts, heads, pieces, size], and the outcome."""

    weights: Tensor
    values: Tensor
    output: Tensor

    def require_sum(self, module: nn.Module) -> _Outcome:
        """This, if it is the sum of weights times values: some attention is scaled once more behind it (a sink)."""
        summed = (self.weights.to(self.values.dtype) @ self.values).transpose(1, 2)
        if summed.shape != self.output.shape or (summed - self.output).norm() > _SAME * self.output.norm():
            name = type(module).__name__
            raise Unanswerable(
                f"value_zeroing cannot take one value out of {name}: it is no sum of weights times values."
            )
        return self

    def without(self, texts: Tensor, zeroed: Tensor) -> Tensor:
        """The outcome [rows, pieces, heads, size] without one value vector in each row, or with all of them for -1."""
        some = (zeroed >= 0)[:, None, None]
        weights = self.weights[texts, :, :, zeroed] * some
        term = weights[..., None] * self.values[texts, :, zeroed][:, :, None]
        return self.output[texts] - term.transpose(1, 2)


@dataclass
class _Layer:
    """One call of a layer: what it was given, what it gave, and the attention inside."""

    module: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    attended: list[_Outcome] = field(default_factory=list)
    output: Any = None

    @property
    def states(self) -> Tensor:
        """The hidden states that the layer gave."""
        states: Tensor = self.output if isinstance(self.output, Tensor) else self.output[0]
        return states

    @property
    def shape(self) -> tuple[int, int, int]:
        """Texts, and pieces twice: as a map of these states has them."""
        texts, pieces = self.states.shape[:2]
        return texts, pieces, pieces

    def reads(self, below: _Layer) -> bool:
        """Whether this layer was given what that one gave."""
        given = self.args[0] if self.args else self.kwargs.get("hidden_states")
        return isinstance(given, Tensor) and torch.equal(given, below.states)

    def again(self, texts: Tensor, batch: int) -> Tensor:
        """The states of another run, with these texts of the batch as its rows.

        A number per text (X-MOD's language) is told from other numbers by its length alone, so it is only taken for
        one where the layer does not run otherwise.
        """
        try:
            given = self._run(texts, batch, 2)
        except (RuntimeError, IndexError, ValueError):
            given = self._run(texts, batch, 1)
        return given if isinstance(given, Tensor) else given[0]

    def _run(self, texts: Tensor, batch: int, least: int) -> Any:
        args, kwargs = _picked((self.args, self.kwargs), texts, (batch, self.states.shape[1]), least)
        return self.module(*args, **kwargs)


class _LayerWatch:
    """Keeps the calls of layers that attend; with `instead`, attention is not computed but taken from there."""

    def __init__(self) -> None:
        self.layers: list[_Layer] = []
        self.instead: Tensor | None = None
        self._open: list[_Layer] = []

    def enter(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._open.append(_Layer(module, args, kwargs))

    def leave(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        layer = self._open.pop()
        if layer.attended:
            layer.output = output
            self.layers.append(layer)

    def __call__(self, call: Call) -> Attended:
        """The model's own eager attention, watched, or what is wanted in its place."""
        if self.instead is not None:
            return self.instead, None
        output, weights = call.eager()
        if not self._open:
            raise Unanswerable("value_zeroing needs a model with a list of layers, and this one attends outside.")
        self._open[-1].attended.append(
            _Outcome(weights, call.values(weights.shape[1]), output).require_sum(call.module)
        )
        return output, weights


def turned(model: nn.Module, inputs: Mapping[str, Any], lengths: Sequence[int], budget: int) -> list[Tensor]:
    """For every layer the normalised distances [texts, 1, pieces, pieces]; at most `budget` tokens a run."""
    watch = _LayerWatch()
    with attending(watch):
        with layers_watched(model, watch.enter, watch.leave):
            model(**inputs)
        layers = _attending_once(watch.layers, len(lengths), type(model).__name__)
        return [_distances(watch, layer, lengths, budget) for layer in layers]


def _attending_once(layers: list[_Layer], batch: int, name: str) -> list[_Layer]:
    """The layers, if they are such as the method knows: each attends once, within the text, and reads the one below."""
    once = all(len(layer.attended) == 1 for layer in layers)
    within = once and all(layer.shape == (batch, *layer.attended[0].weights.shape[-2:]) for layer in layers)
    if layers and within and all(above.reads(below) for below, above in pairwise(layers)):
        return layers
    raise Unanswerable(
        f"value_zeroing reads models whose layers attend once each and stand one on the other; {name} is not so built."
    )


def _distances(watch: _LayerWatch, layer: _Layer, lengths: Sequence[int], budget: int) -> Tensor:
    states, pieces = layer.states, layer.states.shape[1]
    distances = torch.zeros(len(lengths), pieces, pieces, device=states.device)
    for texts, zeroed in _rows(lengths, max(1, budget // pieces), states.device):
        watch.instead = layer.attended[0].without(texts, zeroed)
        again = layer.again(texts, len(lengths))
        _require_same(again[zeroed < 0], states[texts[zeroed < 0]], type(layer.module).__name__)
        some = zeroed >= 0
        distances[texts[some], :, zeroed[some]] = _cosine(states[texts[some]], again[some])
    # What is never looked at moves nothing, whatever the rounding says.
    seen = (layer.attended[0].weights > 0).any(dim=1)
    return _normalised(distances * seen)[:, None]


def _rows(lengths: Sequence[int], size: int, device: torch.device) -> Iterator[Rows]:
    """(text, piece whose value goes) for every row, in parts; each text also once whole, as piece -1."""
    pairs = torch.tensor([(i, j) for i, n in enumerate(lengths) for j in range(-1, n)], device=device)
    return ((part[:, 0], part[:, 1]) for part in torch.split(pairs, size))


def _cosine(one: Tensor, two: Tensor) -> Tensor:
    """1 - cos, as half the squared distance of the unit vectors: small angles are not lost in rounding."""
    unit = nn.functional.normalize
    return (unit(one.float(), dim=-1) - unit(two.float(), dim=-1)).square().sum(-1) / 2


def _normalised(distances: Tensor) -> Tensor:
    total = distances.sum(-1, keepdim=True)
    itself = torch.eye(distances.shape[-1], device=distances.device).expand_as(distances)
    return torch.where(total > _SMALLEST, distances / total.clamp_min(_SMALLEST), itself)


def _require_same(again: Tensor, before: Tensor, name: str) -> None:
    """A layer that remembers, or that was given more than we saw, cannot be run by itself."""
    if again.shape != before.shape or (again - before).norm() > _SAME * before.norm():
        raise Unanswerable(f"value_zeroing cannot run a layer of this model ({name}) by itself: it gives other states.")


def _picked(value: Any, texts: Tensor, shape: tuple[int, int], least: int) -> Any:
    """The same arguments for other rows: every tensor that has a row per text, of `least` dimensions, gives its rows.

    `shape` is how many texts and pieces there are.
    """
    match value:
        case Tensor():
            per_text = value.dim() >= least and value.shape[0] == shape[0]
            return value[texts] if per_text and (value.dim() != 2 or value.shape[1] == shape[1]) else value
        case tuple() | list():
            return type(value)(_picked(part, texts, shape, least) for part in value)
        case dict():
            return {name: _picked(part, texts, shape, least) for name, part in value.items()}
        case _:
            return value
