"""InterveneAttention and Adversary: what a transformer answers under other attention, and adversarial attention.

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

from assay.errors import AssayError, BadInput
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.attending import ATTENTION, Attended, Call, attending
from assay.models.transformers.handlers.rerun import Rerun, read
from assay.models.transformers.handlers.spread import HeadSpread, Reweighted, adversaries, wanted
from assay.models.transformers.tasks.base import result_or_error
from assay.questions.interventions import AdversaryRow, InterveneAttentionRow


@dataclass(frozen=True)
class Redirected(Reweighted):
    """A text whose reader looks elsewhere, k times, in one layer (counted from 0)."""

    layer: int = -1
    last: bool = True
    head: int | None = None

    def __len__(self) -> int:
        """The text, then a row for each attention: of one piece in the last layer, where only the reader changes."""
        return len(self.pieces) + self.k * (1 if self.last else len(self.pieces))

    @property
    def company(self) -> Hashable:
        """Rows with the same can be run together."""
        return self.layer, self.head, self.k, self.search


class InterventionHandler(Handler[HuggingFace]):
    """Answers InterveneAttention and Adversary; which of the two is asked, a row says itself."""

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

    def _redirected(self, model: HuggingFace, row: InterveneAttentionRow | AdversaryRow) -> Redirected:
        heads = self.heads(model)
        layer = _counted(row.where.layer, len(heads), "layer")
        head = None if row.where.head is None else _counted(row.where.head, heads[layer], "head")
        pieces = model.task.pieces(row.text)
        if not len(pieces.piece):
            raise BadInput(f"the tokenizer finds none of the words of {str(row.text)[:40]!r}: nothing to attend to.")
        text, last = (len(row.text), pieces, model.readers(row.text, pieces)), layer == len(heads) - 1
        return Redirected(*text, layer=layer, last=last, head=head, **wanted(row))


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
    """Which rows are run together; where padding would reach the answer, texts of one length."""
    found: dict[Hashable, list[int]] = {}
    for i, row in enumerate(batch):
        length = 0 if model.found.company == "padded" else len(row.pieces)
        found.setdefault((row.company, length), []).append(i)
    return list(found.values())


def _answers(model: HuggingFace, rows: Sequence[Redirected]) -> list[Any]:
    """Answers of rows of one company, after one forward pass of their texts."""
    logits = model.task.logits
    readers = [at for row in rows for at in row.readers or ()]  # one each: other models are not asked this
    reading = read(logits, model.network.model, [row.pieces for row in rows], readers, rows[0].layer)
    again = Rerun.of(logits, reading, model.preferred_tokens, model.most_rows)
    chosen = range(reading.own.shape[1]) if rows[0].head is None else [rows[0].head]
    lengths = np.array([len(row.pieces) for row in rows])
    spread = HeadSpread.of(reading.own, np.arange(reading.own.shape[2]) < lengths[:, None], rows, chosen)
    if rows[0].search is None:
        return list(again(spread.pieces(spread.words([row.given for row in rows]))).double().cpu().numpy())
    if (half := len(rows) // 2) and len(rows) * rows[0].k > again.rows:  # a search holds all its rows in memory
        return [*_answers(model, rows[:half]), *_answers(model, rows[half:])]
    return adversaries(again, spread, rows, model.multi_label)


def _counted(i: int, size: int, what: str) -> int:
    if not -size <= i < size:
        raise BadInput(f"there is no {what} {i}: there are {size}, counted from 0.")
    return i % size
