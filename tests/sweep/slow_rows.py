"""What is explained, computed the slow way: one row at a time, no padding, plain transformers, nothing of Assay.

A task makes a row of the words that are there (None where one is taken away), and says how the explained number is read
off the model's output: the log-odds of the predicted label, tag, answer, word or continuation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, NamedTuple

import torch
from torch import Tensor

Words = Sequence[str | None]


class NoSuchNumber(Exception):
    """There is no such number for this model; the message says why. Assay must refuse."""


class Row(NamedTuple):
    """The inputs of one row, how the explained number is read off the output, and the pieces of each word."""

    inputs: dict[str, Tensor]
    read: Callable[[Any], Tensor]
    pieces: list[list[int]] | None


class SlowTask(ABC):
    """A model, its tokenizer, and one text to explain."""

    def __init__(self, model: Any, tokenizer: Any, given: Any) -> None:
        self.model, self.tokenizer, self.given = model, tokenizer, given
        self.takes = set(signature(model.forward).parameters)
        self._known: dict[tuple[str | None, ...], float] = {}
        self.words: list[str] = []
        self.settle()

    @abstractmethod
    def settle(self) -> None:
        """The words that are explained, and what of the answer to the whole text is explained."""

    @abstractmethod
    def row(self, words: Words) -> Row:
        """The row with these words."""

    def value(self, words: Words) -> float:
        """The explained number, by one forward pass."""
        key = tuple(words)
        if key not in self._known:
            row = self.row(words)
            with torch.no_grad():
                self._known[key] = float(row.read(self.model(**row.inputs)))
        return self._known[key]

    @property
    def embedding(self) -> Any:
        return self.model.get_input_embeddings()

    @property
    def neutral(self) -> int:
        """What a text without words is read as where the tokenizer puts nothing around it."""
        names = ("bos_token_id", "eos_token_id", "pad_token_id", "unk_token_id")
        return next(i for name in names if (i := getattr(self.tokenizer, name)) is not None)

    @property
    def padding(self) -> int:
        """The token for padding; a model that puts nothing around a text and has none takes the neutral one."""
        if self.tokenizer.pad_token_id is not None:
            return self.tokenizer.pad_token_id
        if self.tokenizer("")["input_ids"] or not self.stands_in:
            raise NoSuchNumber("the tokenizer has no padding token")
        return self.neutral

    stands_in = False  # whether another token may stand for padding

    def encoded(self, *strings: str) -> tuple[dict[str, Tensor], list[tuple[int, int]] | None, list[int | None]]:
        """The inputs of one row, the characters of its pieces where the tokenizer knows, and their fields."""
        fast = self.tokenizer.is_fast
        coded = self.tokenizer(*strings, return_offsets_mapping=True) if fast else self.tokenizer(*strings)
        ids = coded["input_ids"] or [self.neutral]
        inputs = self.inputs(ids, coded.get("token_type_ids"))
        return inputs, coded["offset_mapping"] if fast else None, coded.sequence_ids(0) if fast else []

    def inputs(self, ids: Sequence[int], types: Sequence[int] | None = None) -> dict[str, Tensor]:
        made = {"input_ids": torch.tensor([list(ids)])}
        if "attention_mask" in self.takes:
            made["attention_mask"] = torch.ones_like(made["input_ids"])
        if types is not None and "token_type_ids" in self.takes:
            made["token_type_ids"] = torch.tensor([list(types)])
        return made


def joined(words: Words) -> tuple[str, list[tuple[int, int]]]:
    """Words one blank apart, and where each stands; one that is not there has no place."""
    string, spans = "", []
    for word in words:
        if word is None:
            spans.append((0, 0))
            continue
        string += " " if string else ""
        spans.append((len(string), len(string) + len(word)))
        string += word
    return string, spans


def touching(
    spans: Sequence[tuple[int, int]],
    offsets: Sequence[tuple[int, int]] | None,
    fields: Sequence[int | None],
    field: int,
) -> list[list[int]] | None:
    """The pieces of each word: those of its field that have characters of it."""
    if offsets is None:
        return None
    own = [i for i, one in enumerate(fields) if one == field]
    return [[i for i in own if offsets[i][0] < end and start < offsets[i][1]] for start, end in spans]


def log_odds(log_probabilities: Tensor, target: int) -> Tensor:
    others = torch.cat([log_probabilities[:target], log_probabilities[target + 1 :]])
    return log_probabilities[target] - others.logsumexp(0)


def odds_of(log_probability: Tensor) -> Tensor:
    """The log-odds of one outcome with this log-probability."""
    return log_probability - torch.log(-torch.expm1(log_probability.clamp_max(-1e-7)))


class Classification(SlowTask):
    """The log-odds of the predicted label."""

    stands_in = True

    def settle(self) -> None:
        self.words = self.given.split()
        with torch.no_grad():
            inputs, *_ = self.encoded(self.given)
            self.target = int(self.model(**inputs).logits[0].argmax())

    def row(self, words: Words) -> Row:
        string, spans = joined(words)
        inputs, offsets, fields = self.encoded(string)
        return Row(inputs, lambda out: log_odds(out.logits[0], self.target), touching(spans, offsets, fields, 0))


class Tagging(SlowTask):
    """The log-odds of the predicted tag of one word, at its first piece."""

    def settle(self) -> None:
        text, chosen = self.given
        self.words, self.chosen = text.split(), int(chosen.partition(":")[0])
        names = ("mask_token", "unk_token", "pad_token", "eos_token")
        self.stand_in = next(token for name in names if (token := getattr(self.tokenizer, name)))
        self.target = 0
        row = self.row(self.words)
        with torch.no_grad():
            self.target = int(self.model(**row.inputs).logits[0, self.at].argmax())

    def row(self, words: Words) -> Row:
        there = [self.stand_in if i == self.chosen and word is None else word for i, word in enumerate(words)]
        string, spans = joined(there)
        inputs, offsets, fields = self.encoded(string)
        pieces = touching(spans, offsets, fields, 0)
        if pieces is None:
            raise NoSuchNumber("the tokenizer does not tell which piece is which word's")
        at = self.at = pieces[self.chosen][0]
        return Row(inputs, lambda out: log_odds(out.logits[0, at], self.target), pieces)


class Span(SlowTask):
    """The log-odds of the model's own answer to the whole question: first times last piece, over the context."""

    def settle(self) -> None:
        question, self.context = self.given
        self.words = question.split()
        self.answer = (0, 0)
        row = self.row(self.words)
        with torch.no_grad():
            first, last = self._ends(self.model(**row.inputs), *self.place)
        pairs = first[:, None] + last[None, :]
        allowed = torch.ones_like(pairs, dtype=torch.bool).triu().tril(29)
        self.answer = divmod(int(pairs.masked_fill(~allowed, -torch.inf).argmax()), len(last))

    def _ends(self, out: Any, start: int, end: int) -> tuple[Tensor, Tensor]:
        return tuple(one[0, start:end].log_softmax(-1) for one in (out.start_logits, out.end_logits))  # type: ignore[return-value]

    def row(self, words: Words) -> Row:
        string, spans = joined(words)
        inputs, offsets, fields = self.encoded(string, self.context)
        if offsets is None:
            raise NoSuchNumber("the tokenizer does not tell where the context is")
        where = [i for i, field in enumerate(fields) if field == 1]
        place = self.place = where[0], where[-1] + 1

        def read(out: Any) -> Tensor:
            first, last = self._ends(out, *place)
            return odds_of(first[self.answer[0]] + last[self.answer[1]])

        return Row(inputs, read, touching(spans, offsets, fields, 0))
