"""Hugging Face models that answer a question with a span of a context (extractive question answering).

    p(answer) = p(first piece | question, context) p(last piece | question, context)      over the pieces of the context

What is explained is the probability of one answer, by default the model's own to the whole question: it stands in the
text as one more field, `start:end words`, which never changes. The words of the question are explained, and the context
stays; with focus=["context"], or both, the words of the context around the answer are. The settled context then has
three fields that are one string: before, span, after; the span, which is the answer, is never erased.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from assay.errors import AssayError, BadInput, Unanswerable
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.base import Task, remembered, result_or_error, two_way
from assay.models.transformers.tasks.places import around
from assay.text.text import Field, Row, Text

_PLACED = re.compile(r"(\d+):(\d+)(?:#(\d+)-(\d+))? ")
_LONGEST = 30  # pieces of an answer


class Asked(NamedTuple):
    """A question with its context: ids, types, where the context lies, and the answer's first and last piece."""

    ids: list[int]
    types: list[int] | None
    context: tuple[int, int]
    answer: tuple[int, int] = (0, 0)


class OpenedQuestion(NamedTuple):
    """A question whose answer is not settled."""

    ids: list[int]
    asked: Asked
    text: Text
    given: str | None


class SpanReader(Task):
    """Answers with the logits of "another answer" and "this answer"."""

    kind = "span reader"
    reads = 2
    free = 2
    notes = ("answer",)
    widths = (3, 5)
    no_reader = "its answer is read from all pieces of the context, not from one"

    def __init__(self, network: Network, fields: Sequence[str] = ()) -> None:
        super().__init__(network, ("question", "context"))
        self._answers_with("answer")
        self.focus = ("question",)
        self._spans: dict[Row, tuple[int, int]] = {}

    def shown(self, note: Field) -> str:
        return note.string.partition(" ")[2]

    def open(self, text: Text, given: dict[str, str]) -> OpenedQuestion:
        context, answer = text.strings[1], given.get("answer")
        if not self.network.encoder.spans(context):
            raise BadInput("the context has no word, so no answer can be found in it.")
        if answer is not None and _place(context, answer)[0] < 0:
            raise BadInput(f"the answer {answer[:40]!r} is not in the context that the model sees.")
        asked = self.rows([(*text.strings[:2], "")])[0]
        if isinstance(asked, AssayError):
            raise asked
        return OpenedQuestion(asked.ids, asked, text, answer)

    def settle(self, batch: Sequence[OpenedQuestion]) -> list[Text | AssayError]:
        ends = self.ends([row.asked for row in batch])
        return [
            result_or_error(self._with_answer, row, *_best(*pair))
            for row, pair in zip(batch, zip(*ends, strict=True), strict=True)
        ]

    def _with_answer(self, row: OpenedQuestion, first: int, last: int) -> Text:
        """The text with the model's answer, or with the place of the answer that the user gave."""
        question, context = row.text.fields[:2]
        if row.given is not None:
            start, end = _place(context.string, row.given)
            note = f"{start}:{end} {context.string[start:end]}"
        else:
            before = row.asked.context[0]
            note = self._named(context.string, first - before, last - before)
        fixed = Field("answer", note, (), "note")
        if "context" not in row.text.focus:
            return Text((question, context, fixed), row.text.focus)
        match = _PLACED.match(note)
        if match is None or match[3]:
            raise BadInput("the model's answer is no stretch of words of the context, so it cannot be kept there.")
        parts = around(context, (int(match[1]), int(match[2])), "span")
        focus = ("question",) if "question" in row.text.focus else ()
        return Text((question, *parts, fixed), (*focus, "before", "after"))

    def _named(self, context: str, first: int, last: int) -> str:
        """An answer by its characters; with its pieces, where other pieces have the same ones (a mark of a blank)."""
        spans = self.network.encoder.spans(context)
        start, end = spans[first][0], spans[last][1]
        same = start < end and self.network.encoder.covering(context, start, end) == (first, last)
        return f"{start}:{end}{'' if same else f'#{first}-{last}'} {context[start:end]}"

    def rows(self, rows: Sequence[Row]) -> Sequence[Asked | AssayError]:
        rows = [_in_three(row) for row in rows]
        coded = self.network.encoder.rows([row[:2] for row in rows])
        return [self._asked_of(row, *ids_and_types) for row, ids_and_types in zip(rows, coded, strict=True)]

    def _asked_of(self, row: Row, ids: list[int], types: list[int] | None) -> Asked | AssayError:
        first, last = remembered(self._spans, row[1:], self._find) if row[2] else (0, 0)
        gone = self.network.encoder.missing(row[:2], 1) if row[2] else 0
        if first < gone:
            return Unanswerable(f"the answer lies in the part of the context that {self.network.name} does not see.")
        return Asked(ids, types, self.network.encoder.place(row[:2], 1), (first - gone, last - gone))

    def _find(self, context_and_answer: Row) -> tuple[int, int]:
        context, answer = context_and_answer
        place, match = _place(context, answer), _PLACED.match(answer)
        if match and match[3]:
            spans, first, last = self.network.encoder.spans(context), int(match[3]), int(match[4])
            if first <= last < len(spans) and (spans[first][0], spans[last][1]) == place:
                return first, last
        return self.network.encoder.covering(context, *place)

    def said(self, model: Any, inputs: dict[str, Tensor]) -> Tensor:
        output = model(**inputs)
        return torch.stack((output.start_logits, output.end_logits), dim=-1)

    def ends(self, batch: Sequence[Asked]) -> tuple[Tensor, Tensor]:
        """Log-probabilities of every piece of the context to be the first, and the last, of the answer."""
        output = self.network.model(**self.network.inputs([row.ids for row in batch], [row.types for row in batch]))
        places = torch.arange(output.start_logits.shape[1], device=self.network.device)
        start, end = torch.tensor([row.context for row in batch], device=self.network.device).T[:, :, None]
        outside = (places < start) | (places >= end)
        return (
            output.start_logits.masked_fill(outside, -torch.inf).log_softmax(-1),
            output.end_logits.masked_fill(outside, -torch.inf).log_softmax(-1),
        )

    def logits(self, batch: Sequence[Asked]) -> Tensor:
        first, last = self.ends(batch)
        rows = range(len(batch))
        s, e = zip(*((row.context[0] + row.answer[0], row.context[0] + row.answer[1]) for row in batch), strict=True)
        return two_way(first[rows, s] + last[rows, e])


def _in_three(row: Row) -> Row:
    """Question, context and answer; where the context stands in parts, the answer is the one in the middle."""
    if len(row) == 3:
        return row
    question, before, span, after, _ = row
    return question, before + span + after, f"{len(before)}:{len(before) + len(span)} {span}"


def _best(first: Tensor, last: Tensor) -> tuple[int, int]:
    """The likeliest first and last piece, in this order and not too far apart."""
    pairs = first[:, None] + last[None, :]
    allowed = torch.ones_like(pairs, dtype=torch.bool).triu().tril(_LONGEST - 1)
    start, end = divmod(int(pairs.masked_fill(~allowed, -torch.inf).argmax()), len(last))
    return start, end


def _place(context: str, answer: str) -> tuple[int, int]:
    """The characters of an answer: as it says itself, or where its words are first found."""
    if (match := _PLACED.match(answer)) and context[int(match[1]) : int(match[2])] == answer[match.end() :]:
        return int(match[1]), int(match[2])
    start = context.find(answer)
    return start, start + len(answer)
