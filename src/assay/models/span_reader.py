"""Hugging Face models that answer a question with a span of a context (extractive question answering).

    p(answer) = p(first piece | question, context) p(last piece | question, context)      over the pieces of the context

What is explained is the probability of one answer, by default the model's own to the whole question: it stands in the
text as a third field, `start:end words`, which never changes. The words of the question are explained; the context
stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from assay.ask import Predict, Question, Settle
from assay.errors import BadInput
from assay.models.classifier import Classifier, Point
from assay.models.pieces import Pieces
from assay.text import Field, Row, Text

_PLACED = re.compile(r"(\d+):(\d+) ")
_LONGEST = 30  # pieces of an answer
_CERTAIN = -1e-7  # the log-probability of a sure answer, so that its log-odds stay finite


class Asked(NamedTuple):
    """A question with its context: ids, types, where the context lies, and the answer's first and last piece."""

    ids: list[int]
    types: list[int] | None
    context: tuple[int, int]
    answer: tuple[int, int] = (0, 0)


class Open(NamedTuple):
    """A question whose answer is not settled."""

    ids: list[int]
    asked: Asked
    text: Text


class SpanReader(Classifier):
    """Answers with the logits of "another answer" and "this answer"."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        super().__init__(model, tokenizer, **settings)
        self.labels, self.target = ("other", "answer"), 1
        self.fields, self.focus = ("question", "context"), ("question",)
        self.answers |= {Settle}
        self._span = lru_cache(maxsize=4096)(self._find)

    def clip(self, text: Text) -> Text:
        seen = super().clip(Text(text.fields[:2], text.focus))
        return Text((*seen.fields, *text.fields[2:]), text.focus)

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        if kind is Predict:
            coded = self.encoder.rows([row[:2] for row in rows])
            return [self._asked(row, *ids_and_types) for row, ids_and_types in zip(rows, coded, strict=True)]
        if kind is Settle:
            return [_refused(text) or self._open(text) for text in rows]
        return super().encode(kind, rows)

    def answer(self, kind: type[Question], batch: Sequence[Any]) -> Any:
        if kind is not Settle:
            return super().answer(kind, batch)
        with torch.no_grad():
            ends = self._ends([row.asked for row in batch])
        return [self._settled(row, *_best(*pair)) for row, pair in zip(batch, zip(*ends, strict=True), strict=True)]

    def collect(self, kind: type[Question], outputs: Sequence[Any]) -> list[Any]:
        if kind is not Settle:
            return super().collect(kind, outputs)
        return [text for output in outputs for text in output]

    def pieces(self, text: Text) -> Pieces:
        return self.encoder.pieces(Text(text.fields[:2], text.focus))

    def _open(self, text: Text) -> Open:
        asked = self._asked((*text.strings[:2], ""), *self.encoder.rows([text.strings[:2]])[0])
        return Open(asked.ids, asked, text)

    def _settled(self, row: Open, first: int, last: int) -> Text:
        """The text with the model's answer, or with the place of the answer that the user gave."""
        question, context, *given = row.text.fields
        if given:
            start, end = _place(context.string, given[0].string)
        else:
            spans, before = self.encoder.spans(context.string), row.asked.context[0]
            start, end = spans[first - before][0], spans[last - before][1]
        answer = Field("answer", f"{start}:{end} {context.string[start:end]}", ())
        return Text((question, context, answer), row.text.focus)

    def _row(self, point: Point) -> Asked:
        return self._asked(point.row.text.strings, point.pieces.ids, point.pieces.types)

    def _asked(self, row: Row, ids: list[int], types: list[int] | None) -> Asked:
        return Asked(ids, types, self.encoder.place(row[:2], 1), self._span(row[1], row[2]) if row[2] else (0, 0))

    def _find(self, context: str, answer: str) -> tuple[int, int]:
        return self.encoder.covering(context, *_place(context, answer))

    def _ends(self, batch: Sequence[Asked]) -> tuple[Tensor, Tensor]:
        """Log-probabilities of every piece of the context to be the first, and the last, of the answer."""
        output = self.model(**self.inputs([row.ids for row in batch], [row.types for row in batch]))
        places = torch.arange(output.start_logits.shape[1], device=self.device)
        start, end = torch.tensor([row.context for row in batch], device=self.device).T[:, :, None]
        outside = (places < start) | (places >= end)
        return (
            output.start_logits.masked_fill(outside, -torch.inf).log_softmax(-1),
            output.end_logits.masked_fill(outside, -torch.inf).log_softmax(-1),
        )

    def _logits(self, batch: Sequence[Any]) -> Tensor:
        first, last = self._ends(batch)
        rows = range(len(batch))
        s, e = zip(*((row.context[0] + row.answer[0], row.context[0] + row.answer[1]) for row in batch), strict=True)
        chance = (first[rows, s] + last[rows, e]).clamp_max(_CERTAIN)
        return torch.stack([torch.log(-torch.expm1(chance)), chance], dim=1)


def _best(first: Tensor, last: Tensor) -> tuple[int, int]:
    """The likeliest first and last piece, in this order and not too far apart."""
    pairs = first[:, None] + last[None, :]
    allowed = torch.ones_like(pairs, dtype=torch.bool).triu().tril(_LONGEST - 1)
    start, end = divmod(int(pairs.masked_fill(~allowed, -torch.inf).argmax()), len(last))
    return start, end


def _place(context: str, answer: str) -> tuple[int, int]:
    """The characters of an answer: as it says itself, or where its words are first found."""
    if match := _PLACED.match(answer):
        return int(match[1]), int(match[2])
    start = context.find(answer)
    return start, start + len(answer)


def _refused(text: Text) -> BadInput | None:
    """Why a text cannot be asked about."""
    if len(text.fields) < 2:
        return BadInput("a span reader takes a pair: the question and the context.")
    if text.focus != (text.fields[0].name,):
        return BadInput("for a span reader the words of the question are explained; the context must stay as it is.")
    if len(text.fields) == 3 and _place(text.fields[1].string, text.fields[2].string)[0] < 0:
        return BadInput(f"the answer {text.fields[2].string[:40]!r} is not in the context that the model sees.")
    return None
