"""Fill: the likeliest words for the holes of a text, by a masked language model, all holes of a text at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.errors import Unanswerable
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.tasks.masked_lm import MaskedLM
from assay.models.transformers.tasks.projection import places_of, projected
from assay.models.transformers.tasks.vocabulary import Vocabulary
from assay.models.transformers.tokens import Pieces
from assay.questions.answers import Fills
from assay.questions.fill import FillRow
from assay.text.text import IMAGE, Text
from assay.text.variants import Symbol


@dataclass(frozen=True)
class Holes:
    """A text with masks in its holes: its pieces, and where the masks are."""

    row: FillRow
    pieces: Pieces
    at: tuple[int, ...]

    @property
    def ids(self) -> list[int]:
        return self.pieces.ids

    @property
    def types(self) -> list[int] | None:
        return self.pieces.types

    def __len__(self) -> int:
        return len(self.pieces)


class FillHandler(Handler[HuggingFace]):
    """Puts masks into the holes, and takes the likeliest tokens there that are words."""

    def encode(self, model: HuggingFace, rows: Sequence[FillRow]) -> list[Holes | Unanswerable]:
        return [_holes(model, row) for row in rows]

    def vocabulary_places(self, model: HuggingFace, encoded: Sequence[Holes]) -> list[int]:
        return [len(row.at) for row in encoded]

    def answer(self, model: HuggingFace, batch: Sequence[Holes]) -> tuple[Tensor, Tensor, Sequence[Holes]]:
        """The likeliest tokens for every hole of the batch, hole after hole, and their probabilities.

        They leave the device: the candidates of many batches would be more than the model.
        """
        index, words = places_of(batch), _vocabulary(model)
        if not index:
            return torch.zeros(0, 0), torch.zeros(0, 0), batch
        with torch.no_grad():
            chances = projected(model.network, batch, index).softmax(-1)
        whole = torch.tensor([row.row.whole_words for row in batch for _ in row.at], device=chances.device)[:, None]
        chances.masked_fill_(~torch.where(whole, words.whole_words, words.text), -1.0)
        top = chances.topk(max(1, min(_most(batch, chances), int(words.whole_words.sum()))))
        return top.indices.to("cpu", torch.int32), top.values.clamp_min(0).cpu(), batch

    def collect(self, model: HuggingFace, outputs: Sequence[Any]) -> list[Fills]:
        words = _vocabulary(model)
        return [fill for ids, chances, batch in outputs for fill in _fills(words, ids, chances.double(), batch)]


def _vocabulary(model: HuggingFace) -> Vocabulary:
    assert isinstance(model.task, MaskedLM)
    return model.task.vocabulary


def _fills(words: Vocabulary, ids: Tensor, chances: Tensor, batch: Sequence[Holes]) -> Iterator[Fills]:
    start = 0
    for row in batch:
        part = slice(start, start + len(row.at))
        yield _fill(words, row.row, ids[part].tolist(), chances[part].numpy())
        start = part.stop


def _fill(vocabulary: Vocabulary, row: FillRow, ids: list[list[int]], chances: Any) -> Fills:
    """The candidates of one row; a hole that has fewer of them than another has zeros behind its last."""
    least = None if row.threshold is None else np.float32(row.threshold)  # as in `_most`
    likely = [None] * len(ids) if least is None else (chances >= least).sum(axis=1).tolist()
    counts = [min(_count(row.k, n), len(hole)) for n, hole in zip(likely, ids, strict=True)]
    words = tuple(tuple(vocabulary.word(i) for i in hole[:n]) for hole, n in zip(ids, counts, strict=True))
    table = chances[:, : max(counts, default=0)].copy()
    for own, n in zip(table, counts, strict=True):
        own[n:] = 0
    return Fills(words, table)


def _holes(model: HuggingFace, row: FillRow) -> Holes | Unanswerable:
    mask = model.spelling[Symbol.MASK]
    text = row.text.with_words([w if kept else mask for w, kept in zip(row.text.words, row.keep, strict=True)])
    pieces = model.network.encoder.pieces(_worded(text.read))
    first = {int(w): int(p) for p, w in zip(pieces.piece[::-1], pieces.word[::-1], strict=True)}
    holes = [w for w, kept in enumerate(row.keep) if not kept]
    if beyond := [row.text.words[w] for w in holes if w not in first]:
        return Unanswerable(f"{beyond[0]!r} lies beyond the window of the masked language model {model.name}.")
    return Holes(row, pieces, tuple(first[w] for w in holes))


def _most(batch: Sequence[Holes], chances: Tensor) -> int:
    """How many candidates some hole of the batch has."""
    least = [row.row.threshold for row in batch for _ in row.at]
    likely = (chances >= torch.tensor([x or 0.0 for x in least], device=chances.device)[:, None]).sum(-1).tolist()
    caps = [row.row.k for row in batch for _ in row.at]
    return max(_count(cap, None if x is None else n) for cap, n, x in zip(caps, likely, least, strict=True))


def _count(cap: int | None, likely: int | None) -> int:
    """How many candidates a hole has: the likely ones, at least one, and not more than are wanted."""
    return min(n for n in (cap, None if likely is None else max(1, likely)) if n is not None)


def _worded(text: Text) -> Text:
    """Without an image: what stands in its field is a name for other models, no words."""
    return Text(tuple(f for f in text.fields if f.name != IMAGE or f.name in text.focus), text.focus)
