"""The straight line from a baseline to a text, in the embeddings of a model, and the way back from pieces to words.

A row of a gradient question is a line with one or more points on it. A batch of lines is one batch of the model, in
which every point is a sequence; the lines come one after the other, and so do the points of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from assay.models.transformers.devices import to_device
from assay.models.transformers.tokens import Pieces
from assay.questions.gradients import GradientRow, Reduce
from assay.statistics.arrays import Ints

T = TypeVar("T")


@dataclass(slots=True)  # not frozen: that takes four times as long to make
class EncodedLine:
    """A gradient row with the pieces of its text, and the ids that stand for the explained ones at its baseline."""

    row: GradientRow
    pieces: Pieces
    start: Ints

    def __len__(self) -> int:
        return len(self.pieces.ids)

    @property
    def sequences(self) -> int:
        return len(self.row.at)


def started(pieces: Pieces, baseline: tuple[int, ...]) -> Ints:
    """For every explained piece the id at the baseline, the baseline's ids again and again; -1 for zero."""
    if len(baseline) < 2:
        return np.full(len(pieces.piece), baseline[0] if baseline else -1, dtype=np.int64)
    _, order = np.unique(pieces.piece, return_inverse=True)
    return np.asarray(np.array(baseline, dtype=np.int64)[order % len(baseline)])


def for_points(batch: Iterable[EncodedLine], value: Callable[[EncodedLine], T]) -> list[T]:
    """What the line of every point has."""
    return list(chain.from_iterable(repeat(value(line), line.sequences) for line in batch))


class Points:
    """Where each sequence stands between its baseline and its text, and the way back from pieces to words.

    `embed` gives the embeddings of ids.
    """

    def __init__(self, batch: Sequence[EncodedLine], embed: Callable[[Tensor], Tensor], device: torch.device) -> None:
        self.batch, self.device = batch, device
        self.counts = np.array([line.sequences for line in batch])
        self.first = np.cumsum(self.counts) - self.counts
        pieces = np.repeat([len(line.pieces.piece) for line in batch], self.counts)
        self.row = self._tensor(np.repeat(np.arange(len(pieces)), pieces))
        self.piece, self.word, self.share, start = (
            self._tensor(np.concatenate(for_points(batch, part)))
            for part in (_piece, _word, _share, lambda line: line.start)
        )
        self.baseline = embed(start.clamp_min(0)) * (start >= 0)[:, None]

    def place(self, embedded: Tensor) -> Tensor:
        """The embeddings of the explained words, moved towards the baseline; a new leaf for autograd."""
        start = embedded.detach().clone()
        start[self.row, self.piece] = self.baseline.to(start.dtype)
        at = self._tensor(np.array(self._at())).to(start.dtype)[:, None, None]
        self.way = embedded.detach() - start
        point = torch.where(at == 1, embedded.detach(), start + at * self.way)
        self.point = (point + self._noise(embedded.detach())).requires_grad_() if self.noisy else point.requires_grad_()
        return self.point

    def _at(self) -> list[float]:
        return list(chain.from_iterable(line.row.at for line in self.batch))

    @property
    def noisy(self) -> bool:
        return any(line.row.noise for line in self.batch)

    def _noise(self, embedded: Tensor) -> Tensor:
        """Sampled for each row by itself, on the CPU: the same in any company and on any device."""
        noise = torch.zeros(embedded.shape)
        for i, line in zip(self.first.tolist(), self.batch, strict=True):
            if line.row.noise:
                own = np.unique(line.pieces.piece)
                chance = torch.Generator().manual_seed(line.row.noise.seed)
                drawn = line.row.noise.share * torch.randn(len(own), embedded.shape[2], generator=chance)
                noise[i : i + line.sequences, own] = drawn
        return noise.to(embedded) * self._range(embedded)[:, None, None]

    def _range(self, embedded: Tensor) -> Tensor:
        """How far the embedding values of each sequence's explained pieces lie apart."""
        values, empty = embedded[self.row, self.piece], embedded.new_zeros(len(embedded))
        highest = empty.scatter_reduce(0, self.row, values.amax(-1), "amax", include_self=False)
        return highest - empty.scatter_reduce(0, self.row, values.amin(-1), "amin", include_self=False)

    def per_word(self, gradient: Tensor) -> Tensor:
        """Reduce over the embedding dimensions, then over the pieces of each word."""
        words = max(len(line.row.text) for line in self.batch)
        result = gradient.new_zeros(len(gradient), words)
        kinds = [line.row.reduce for line in self.batch]
        for kind in set(kinds):
            mine = self._tensor(np.repeat([k == kind for k in kinds], self.counts))[:, None]
            result = torch.where(mine, self._reduced(kind, gradient, result), result)
        return result

    def _reduced(self, kind: Reduce, gradient: Tensor, zeros: Tensor) -> Tensor:
        at = (self.row, self.word)
        match kind:
            case "dot":
                return zeros.index_put(at, self._of((gradient * self.way).sum(-1)), accumulate=True)
            case "l1":
                return zeros.index_put(at, self._of(gradient.abs().sum(-1)), accumulate=True)
            case "l2":
                return zeros.index_put(at, self._of(gradient.square().sum(-1)), accumulate=True).sqrt()
            case "linf":
                flat = self.row * zeros.shape[1] + self.word
                largest = gradient.abs().amax(-1)[self.row, self.piece]
                return zeros.flatten().scatter_reduce(0, flat, largest, "amax").view_as(zeros)

    def _of(self, numbers: Tensor) -> Tensor:
        """The numbers of the explained words' pieces, shared where a piece belongs to several words."""
        return numbers[self.row, self.piece] * self.share.to(numbers.dtype)

    def _tensor(self, array: Any) -> Tensor:
        return to_device(array, self.device)


def _piece(line: EncodedLine) -> Ints:
    return line.pieces.piece


def _word(line: EncodedLine) -> Ints:
    return line.pieces.word


def _share(line: EncodedLine) -> Any:
    return line.pieces.share
