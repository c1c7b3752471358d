"""A model run again with another attention of one piece (the reader) in one layer, as cheaply as the model allows.

One forward pass keeps what the attention of the layer was, and what the layer below gave. The rows of the runs that
follow are versions of these texts.

    reader     for the last layer: layers below are skipped, and a row is the reader alone, one piece long
    above      layers below are skipped
    whole      all is computed again

A short cut is taken if under the model's own attention it gives the model's own answer; so no model is asked whether it
is built as the short cut wants it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Literal, TypeAlias

import torch
from torch import Tensor, nn

from assay.errors import Unanswerable
from assay.models.transformers.attending import Attended, Call, attending, layers_watched
from assay.models.transformers.tokens import Encoded, Pieces

Way: TypeAlias = Literal["reader", "above", "whole"]
Logits: TypeAlias = Callable[[Sequence[Encoded]], Tensor]  # the model: from encoded rows to [rows, labels]


class _AttentionWatch:
    """Keeps the attention of one layer, the output of the layer below, and which layers attend, in order."""

    def __init__(self, layer: int) -> None:
        self.layer, self.calls, self.in_layers = layer, 0, True
        self.stack: list[nn.Module] = []  # layers that attend, as often as they do
        self.below: Any = None
        self._open: list[list[Any]] = []
        self._idle: set[nn.Module] = set()

    def enter(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._open.append([module, 0])

    def leave(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        _, attended = self._open.pop()
        if not attended:
            self._idle.add(module)
            return
        self.in_layers &= attended == 1
        self.stack.append(module)
        if len(self.stack) == self.layer:
            self.below = output

    def __call__(self, call: Call) -> Attended:
        output, weights = call.eager()
        if self._open:
            self._open[-1][1] += 1
        else:
            self.in_layers = False
        if self.calls == self.layer:
            self.weights, self.values, self.output = weights, call.values(weights.shape[1]), output
        self.calls += 1
        return output, weights

    @property
    def skippable(self) -> tuple[nn.Module, ...]:
        """The layers below, if each of their calls is one attention; else none."""
        below = tuple(self.stack[: self.layer])
        return below if self.in_layers and not self._idle.intersection(below) else ()


@dataclass(frozen=True)
class FirstPass:
    """Texts after one forward pass: all that the answer depends on but the attention of their readers."""

    pieces: Sequence[Pieces]
    layer: int
    last: bool
    readers: Tensor  # [n]
    own: Tensor  # the model's own weights of the readers [n, heads, length], in single precision at least
    values: Tensor  # [n, heads, length, size], likewise
    output: Tensor  # of the attention [n, length, heads, size]
    below: Any  # what the layer below gave
    skippable: tuple[nn.Module, ...]
    logits: Tensor  # the model's own answers [n, labels]

    @property
    def ways(self) -> list[Way]:
        short: list[Way] = ["reader", "above"] if self.last else ["above"]
        return [*short, "whole"] if self.skippable else ["whole"]


def read(logits: Logits, model: nn.Module, pieces: Sequence[Pieces], at: Sequence[int], layer: int) -> FirstPass:
    """One forward pass; `at` says where the readers are."""
    watch = _AttentionWatch(layer)
    with attending(watch), layers_watched(model, watch.enter, watch.leave):
        answers = logits([(one.ids, one.types) for one in pieces])
    readers = torch.tensor(at, device=answers.device)
    exact = torch.promote_types(watch.weights.dtype, torch.float32)
    return FirstPass(
        pieces,
        layer,
        layer == watch.calls - 1,
        readers,
        watch.weights[range(len(pieces)), :, readers].to(exact),
        watch.values.to(exact),
        watch.output,
        watch.below,
        watch.skippable,
        answers,
    )


@dataclass(frozen=True)
class Rerun:
    """Runs texts again under other attention, at most so many rows in a forward pass."""

    logits: Logits
    reading: FirstPass
    way: Way
    rows: int

    @classmethod
    def of(cls, logits: Logits, reading: FirstPass, tokens: int, most_rows: int | None) -> Rerun:
        """The cheapest way that gives the model's own answers under its own attention."""
        for way in reading.ways:
            rows = most_rows or max(1, tokens // (1 if way == "reader" else reading.own.shape[2]))
            if (again := cls(logits, reading, way, rows)).gives_the_same():
                return again
        raise Unanswerable("the attention of this model cannot be replaced: under its own it answers something else.")

    def gives_the_same(self) -> bool:
        own = self.reading.logits
        try:
            again = self(self.reading.own[:, None])[:, 0]
        except torch.OutOfMemoryError:
            raise
        except Exception:  # whatever a model says to rows of one piece
            if self.way == "whole":
                raise
            return False
        near = torch.finfo(self.reading.output.dtype).eps ** 0.5 * (1 + own.abs().max())
        return again.shape == own.shape and bool((again - own).abs().max() <= near)

    def __call__(self, used: Tensor) -> Tensor:
        """Answers [n, k, labels] under k attentions for each text [n, k, heads, length]."""
        reading, (n, k) = self.reading, used.shape[:2]
        seen = (used.transpose(1, 2) @ reading.values).transpose(1, 2).flatten(0, 1).to(reading.output.dtype)
        texts = torch.arange(n, device=used.device).repeat_interleave(k)
        parts = zip(torch.split(texts, self.rows), torch.split(seen, self.rows), strict=True)
        answers = torch.cat([_run(self.logits, reading, *part, self.way) for part in parts])
        return answers.view(n, k, -1)


def _run(logits: Logits, reading: FirstPass, texts: Tensor, seen: Tensor, way: Way) -> Tensor:
    """One forward pass; `seen` [rows, heads, size] is what the readers take from where they look."""
    readers = reading.readers[texts]
    pieces = [reading.pieces[i] for i in texts.tolist()]
    if way == "reader":
        ids = [_only(one, at) for one, at in zip(pieces, readers.tolist(), strict=True)]
        places: slice | Tensor = readers[:, None]
        instead = seen[:, None]
    else:
        ids = [(one.ids, one.types) for one in pieces]
        places = slice(max(map(len, pieces)))
        rows = torch.arange(len(texts), device=texts.device)
        instead = reading.output[texts, places].index_put((rows, readers), seen)
    skips = way != "whole"
    given = _picked(reading.below, texts, places, reading.output.shape[:2]) if skips else None
    start = reading.layer if skips else 0
    with attending(_Instead(reading.layer - start, instead)), _skipping(reading.skippable[:start], given):
        return logits(ids)


def _only(pieces: Pieces, at: int) -> Encoded:
    return [pieces.ids[at]], None if pieces.types is None else [pieces.types[at]]


class _Instead:
    """Puts an outcome in the place of one call of attention, and leaves the others alone."""

    def __init__(self, number: int, outcome: Tensor) -> None:
        self.number, self.outcome, self.calls = number, outcome, count()

    def __call__(self, call: Call) -> Attended:
        return (self.outcome, None) if next(self.calls) == self.number else call.eager()


@contextmanager
def _skipping(layers: Sequence[nn.Module], given: Any) -> Iterator[None]:
    """Within it, these layers do nothing and give this; a layer that is called again after them works as ever."""
    calls, before = count(), {layer: layer.__dict__.get("forward") for layer in layers}

    def skipped(forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return given if next(calls) < len(layers) else forward(*args, **kwargs)

    try:
        for layer in before:
            layer.forward = partial(skipped, layer.forward)
        yield
    finally:
        for layer, own in before.items():
            del layer.forward
            if own is not None:
                layer.forward = own


def _picked(value: Any, texts: Tensor, places: slice | Tensor, shape: torch.Size) -> Any:
    """The same for other rows and places: of every tensor that has a vector for each piece of each text."""
    match value:
        case Tensor() if value.dim() == 3 and value.shape[:2] == shape:
            return value[texts[:, None], places] if isinstance(places, Tensor) else value[texts, places]
        case tuple() | list():
            return type(value)(_picked(part, texts, places, shape) for part in value)
        case _:
            return value
