"""Likelihood: log p of every token of texts that are given, after their prompts.

Of the vocabulary only the given tokens are kept, and at most `_MOST` numbers of it are there at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from assay.errors import AssayError, BadInput
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.decoding import LeftToRight, Ways, beginnings, tried
from assay.models.transformers.handlers.generate import continued
from assay.models.transformers.sampling import pieces
from assay.models.transformers.tasks.continued import Continued
from assay.models.transformers.tasks.projection import Wanted, places_of
from assay.models.transformers.tasks.seq2seq import Seq2Seq
from assay.models.transformers.writing_fast import fast, widening
from assay.questions.generation import LikelihoodRow, TokenLikelihoods
from assay.statistics.arrays import Floats

_MOST = 1 << 26  # logits that are there at once


@dataclass(frozen=True)
class Continuation:
    """A prompt and a continuation, as tokens."""

    string: str
    head: list[int]
    ids: list[int]
    end: int | None = None  # the last of the ids, where it ends the text and is no part of its string

    def __len__(self) -> int:
        return len(self.head) + len(self.ids)


class LikelihoodHandler(Handler[HuggingFace]):
    """Reads prompt and continuation in one pass; of prompts that begin alike the beginning once."""

    mixed = True  # the same prompt stands before texts of many lengths

    def __init__(self) -> None:
        self._ways: Ways | None = None

    def encode(self, model: HuggingFace, rows: Sequence[LikelihoodRow]) -> list[Continuation | AssayError]:
        task = continued(model)
        heads = {prompt: task.head(prompt) for prompt in {row.prompt for row in rows}}
        return [_continuation(task, row, heads[row.prompt]) for row in rows]

    def answer(self, model: HuggingFace, batch: Sequence[Continuation]) -> list[TokenLikelihoods]:
        task = continued(model)
        found: list[list[Floats]] = [[np.zeros(0)] for _ in batch]
        with torch.no_grad(), fast(model.network):
            for numbers, rows in _portions(task, batch):
                logits = self._logits(task, [batch[i].head for i in numbers], rows).log_softmax(-1)
                tokens = torch.tensor([token for row in rows for token in row.tokens], device=logits.device)
                own = logits.gather(1, tokens[:, None])[:, 0].double().cpu().numpy()
                sizes = np.cumsum([len(row.tokens) for row in rows])[:-1]
                for i, part in zip(numbers, np.split(own, sizes), strict=True):
                    found[i].append(part)
        return [
            TokenLikelihoods(_tokens(task, one), np.concatenate(parts)) for one, parts in zip(batch, found, strict=True)
        ]

    def widening(self, model: HuggingFace) -> int:
        return widening(model.network, model.preferred_tokens)

    def _logits(self, task: Continued, heads: Sequence[list[int]], rows: Sequence[Wanted]) -> Tensor:
        stems = None if isinstance(task, Seq2Seq) else beginnings(list(map(tuple, heads)))
        if stems is not None:
            self._ways = self._ways or tried(task)
            if self._ways.shared:
                behind = [row.ids[len(stem) :] for row, stem in zip(rows, stems, strict=True)]
                places = [(i, at - len(stems[i])) for i, at in places_of(rows)]
                return LeftToRight.behind(task.network, stems, self._ways).logits_at(behind, places)
        return task.projected(rows, places_of(rows))


def _continuation(task: Continued, row: LikelihoodRow, head: list[int] | AssayError) -> Continuation | AssayError:
    if isinstance(head, AssayError):
        return head
    try:
        end = task.end() if row.ended else None
    except AssayError as error:
        return error
    ids, room = [*task.following(row.continuation), *(() if end is None else (end,))], task.room(head)
    if len(ids) > room:
        return BadInput(f"the continuation has {len(ids)} tokens, and there is room for {room}; shorten the texts.")
    return Continuation(row.continuation, head, ids, end)


def _tokens(task: Continued, one: Continuation) -> tuple[str, ...]:
    if one.end is None:
        return pieces(task.continuation_of, one.ids, one.string)
    return (*pieces(task.continuation_of, one.ids[:-1], one.string), task.decoded([one.end]))


def _portions(task: Continued, batch: Sequence[Continuation]) -> Iterator[tuple[list[int], list[Wanted]]]:
    """Rows of the batch, or parts of the tokens of one row, whose logits may be there at once."""
    most = max(1, _MOST // max(1, int(task.network.model.config.get_text_config(decoder=True).vocab_size)))
    numbers: list[int] = []
    rows: list[Wanted] = []
    for i in sorted(range(len(batch)), key=lambda i: batch[i].head):  # prompts that begin alike stand together
        one = batch[i]
        for first in range(0, len(one.ids), most):
            wanted = task.wanted(one.head, one.ids, first, min(first + most, len(one.ids)))
            if rows and sum(len(row.tokens) for row in rows) + len(wanted.tokens) > most:
                yield numbers, rows
                numbers, rows = [], []
            numbers, rows = [*numbers, i], [*rows, wanted]
    if rows:
        yield numbers, rows
