"""Intervene and Adversary: what a transformer answers under other attention in one layer, and adversarial attention.

    a'[h, reader -> piece] = what stays + mass of the words * w(word) part(piece of the word)        in every head h

In the chosen layer (the last one) and heads (all of them) the piece whose state becomes the answer looks at the words
as the weights w say (placing.py). So the tests of Jain and Wallace (2019), made for models with one
attention, can be asked of a transformer; the attention of all other pieces, layers and heads stays the model's own.

Where all heads get the same weights, the attention to get away from is the mean of the heads, and the answer that must
stay is the one under that mean in all heads.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.errors import AssayError, BadInput
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.attending import ATTENTION, Attended, Call, attending
from assay.models.transformers.handlers.adversary import attack
from assay.models.transformers.handlers.rerun import FirstPass, Rerun, read
from assay.models.transformers.inside import Inside
from assay.models.transformers.placing import Placing
from assay.models.transformers.tasks.base import result_or_error
from assay.questions.answers import Adversaries, Predictions
from assay.questions.interventions import AdversaryRow, InterveneRow, Search
from assay.statistics.arrays import Floats


@dataclass(frozen=True)
class Redirected(Inside):
    """A text whose reader looks elsewhere, k times, in one layer (counted from 0)."""

    layer: int = -1
    last: bool = True
    head: int | None = None
    table: Floats | None = None  # attentions over the words [k, words], None for the model's own
    search: Search | None = None
    seed: int = 0

    @property
    def k(self) -> int:
        return self.search.k if self.search else len(self.given)

    @property
    def given(self) -> Floats:
        assert self.table is not None
        return self.table

    def __len__(self) -> int:
        """The text, then a row for each attention: of one piece in the last layer, where only the reader changes."""
        return len(self.pieces) + self.k * (1 if self.last else len(self.pieces))

    @property
    def company(self) -> Hashable:
        """Rows with the same can be run together."""
        return self.layer, self.head, self.k, self.search


class InterventionHandler(Handler[HuggingFace]):
    """Answers Intervene and Adversary; which of the two is asked, a row says itself."""

    def __init__(self) -> None:
        self._heads: list[int] | None = None

    def encode(self, model: HuggingFace, rows: Sequence[Any]) -> list[Redirected | AssayError]:
        return [result_or_error(self._redirected, model, row) for row in rows]

    def answer(self, model: HuggingFace, batch: Sequence[Redirected]) -> list[Any]:
        answered: dict[int, Any] = {}
        with torch.inference_mode(False), torch.no_grad(), model.network.attending_by(ATTENTION):
            for mine in _companies(model, batch):
                answered |= zip(mine, _answers(model, [batch[i] for i in mine]), strict=True)
        return [answered[i] for i in range(len(batch))]

    def heads(self, model: HuggingFace) -> list[int]:
        """How many heads each attention of the model has, in the order in which it attends."""
        if self._heads is None:
            self._heads = _counted_heads(model)
        return self._heads

    def _redirected(self, model: HuggingFace, row: InterveneRow | AdversaryRow) -> Redirected:
        heads = self.heads(model)
        layer = _counted(row.where.layer, len(heads), "layer")
        head = None if row.where.head is None else _counted(row.where.head, heads[layer], "head")
        table = row.table if row.weights else None
        pieces = model.task.pieces(row.text)
        if not len(pieces.piece):
            raise BadInput(f"the tokenizer finds none of the words of {str(row.text)[:40]!r}: nothing to attend to.")
        place = (layer, layer == len(heads) - 1, head)
        search, seed = (row.search, row.seed) if isinstance(row, AdversaryRow) else (None, 0)
        return Redirected(len(row.text), pieces, model.task.reader(row.text), *place, table, search, seed)


def _counted_heads(model: HuggingFace) -> list[int]:
    heads: list[int] = []

    def seen(call: Call) -> Attended:
        output, weights = call.eager()
        heads.append(weights.shape[1])
        return output, weights

    with model.quiet(), torch.no_grad(), model.network.attending_by(ATTENTION), attending(seen):
        model.task.logits(model.task.rows([("a",)]))
    return heads


def _companies(model: HuggingFace, batch: Sequence[Redirected]) -> list[list[int]]:
    """Which rows are run together; a model that does not mask padding takes texts of one length."""
    found: dict[Hashable, list[int]] = {}
    for i, row in enumerate(batch):
        length = 0 if "attention_mask" in model.network.takes else len(row.pieces)
        found.setdefault((row.company, length), []).append(i)
    return list(found.values())


def _answers(model: HuggingFace, rows: Sequence[Redirected]) -> list[Any]:
    """Answers of rows of one company, after one forward pass of their texts."""
    logits = model.task.logits
    reading = read(logits, model.model, [row.pieces for row in rows], [row.reader for row in rows], rows[0].layer)
    again = Rerun.of(logits, reading, model.preferred_tokens, model.most_rows)
    spread = HeadSpread.of(reading, rows)
    if rows[0].search is None:
        return list(again(spread.pieces(spread.words([row.given for row in rows]))).double().cpu().numpy())
    if (half := len(rows) // 2) and len(rows) * rows[0].k > again.rows:  # a search holds all its rows in memory
        return [*_answers(model, rows[:half]), *_answers(model, rows[half:])]
    return _found(model, rows, spread, again)


def _found(model: HuggingFace, rows: Sequence[Redirected], spread: HeadSpread, again: Rerun) -> list[Adversaries]:
    """Adversarial attention for each row."""
    assert rows[0].search is not None
    own = spread.own if rows[0].table is None else spread.words([row.given for row in rows])[:, 0]

    def chances(weights: Tensor) -> Tensor:
        logits = again(spread.pieces(weights))
        return logits.sigmoid() if model.multi_label else logits.softmax(dim=-1)

    others = attack(chances, own, spread.open, rows[0].search, [row.seed for row in rows])
    weights = torch.cat([own[:, None], others], dim=1)
    logits = again(spread.pieces(weights)).double().cpu().numpy()
    tables = (table[:, : row.words] for table, row in zip(weights.double().cpu().numpy(), rows, strict=True))
    return [Adversaries(t, Predictions(own, model.multi_label)) for t, own in zip(tables, logits, strict=True)]


@dataclass(frozen=True)
class HeadSpread:
    """The way from the words of texts to their pieces, in every head."""

    ways: list[Placing]  # for each text, from its words to the mean of the chosen heads
    stays: Tensor  # [n, heads, length]
    spread: Tensor  # [n, heads, words, length]; zero in heads that stay as they are
    own: Tensor  # the model's own attention over the words, the mean of the chosen heads [n, words]
    open: Tensor  # words that can be attended to [n, words]

    @classmethod
    def of(cls, reading: FirstPass, rows: Sequence[Redirected]) -> HeadSpread:
        own, words = reading.own.double().cpu().numpy(), max(row.words for row in rows)
        stays, spread = own.copy(), np.zeros((*own.shape[:2], words, own.shape[2]))
        heads = range(own.shape[1]) if rows[0].head is None else [rows[0].head]
        means = []
        for i, row in enumerate(rows):
            there = np.arange(own.shape[2]) < len(row.pieces)
            means.append(Placing.of(row, own[i, heads].mean(axis=0), there))
            for h in heads:
                way = Placing.of(row, own[i, h], there)
                stays[i, h], spread[i, h, : row.words] = way.stays, way.spread
        alone, opened = (_padded([getattr(way, name) for way in means], words) for name in ("own", "open"))
        held, ways, own_words, opens = (torch.tensor(t).to(reading.own) for t in (stays, spread, alone, opened))
        return cls(means, held, ways, own_words, opens > 0)

    def words(self, tables: Sequence[Floats]) -> Tensor:
        """Weights for the words of every text [n, k, words], each summing to 1."""
        shares = [way.shares(table) for way, table in zip(self.ways, tables, strict=True)]
        return torch.tensor(_padded(shares, self.own.shape[1])).to(self.own)

    def pieces(self, weights: Tensor) -> Tensor:
        """Attention over words [n, k, words] as attention over pieces [n, k, heads, length]."""
        return self.stays[:, None] + (weights[:, None] @ self.spread).transpose(1, 2)


def _padded(arrays: Sequence[Any], words: int) -> Floats:
    """Arrays over words, one for each text, with zeros for the words that a text does not have."""
    wide = ((*[(0, 0)] * (array.ndim - 1), (0, words - array.shape[-1])) for array in arrays)
    return np.stack([np.pad(np.asarray(a, np.float64), w) for a, w in zip(arrays, wide, strict=True)])


def _counted(i: int, size: int, what: str) -> int:
    if not -size <= i < size:
        raise BadInput(f"there is no {what} {i}: there are {size}, counted from 0.")
    return i % size
