"""Hugging Face masked language models: Fill; and as explained models, the probability of a word in a hole.

    ("The film was [MASK].", "good")        the probability of the word there; without it, of the likeliest whole word
    ("The film was good.", "3:good")        the word is made a hole, and its own probability there explained; the word
                                            by its number, counted from 0, by itself, or both

A word of several pieces has as many masks, and the product of its pieces' probabilities there. The settled text has
three fields that are one string: before, hole, after; the hole is never erased. The word is a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from assay.errors import AssayError, BadInput, ModelNotLoaded, Unanswerable
from assay.models.transformers.tasks.settled import around, find_word, remembered
from assay.models.transformers.tasks.worded import Wanted, Worded
from assay.models.transformers.tokens import Pieces
from assay.questions.answers import Fills
from assay.questions.base import Question
from assay.questions.fill import Fill, FillRow
from assay.text.text import IMAGE, Field, Row, Span, Text
from assay.text.variants import Symbol


class Opened(NamedTuple):
    """A text with a hole in the place of its masks, what stands before the word there, and its tokens if known."""

    ids: list[int]
    types: list[int] | None
    at: tuple[int, ...]
    text: Text
    blank: str
    word: str | None


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


class MaskedLM(Worded):
    """Answers with the likeliest words for the holes of a text, and with the probability of one word in one hole."""

    kind = "masked language model"
    notes = ("word",)
    widths = (4,)

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        super().__init__(model, tokenizer, **{**settings, "fields": ("text",)})
        if tokenizer.mask_token is None or not self.encoder.has_offsets:
            raise ModelNotLoaded(f"{self.name} has no mask token (or a slow tokenizer), so it cannot fill holes.")
        self.focus = ("text",)
        self.answers |= {Fill}
        self._words: dict[int, str] = {}

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        return [self._holes(row) for row in rows] if kind is Fill else super().encode(kind, rows)

    def answer(self, kind: type[Question], batch: Sequence[Any]) -> Any:
        return self._top(batch) if kind is Fill else super().answer(kind, batch)

    def collect(self, kind: type[Question], outputs: Sequence[Any]) -> list[Any]:
        if kind is not Fill:
            return super().collect(kind, outputs)
        return [
            fill for ids, chances, batch in outputs for fill in self._fills(ids.cpu(), chances.double().cpu(), batch)
        ]

    def _top(self, batch: Sequence[Holes]) -> tuple[Tensor, Tensor, Sequence[Holes]]:
        """The likeliest tokens for every hole of the batch, hole after hole."""
        index = [(i, at) for i, row in enumerate(batch) for at in row.at]
        if not index:
            return torch.zeros(0, 0), torch.zeros(0, 0), batch
        with torch.no_grad():
            chances = self._projected(batch, index).softmax(-1)
        whole = torch.tensor([row.row.whole_words for row in batch for _ in row.at], device=chances.device)[:, None]
        chances = chances.masked_fill(~torch.where(whole, self._whole, self._plain), -1.0)
        top = chances.topk(max(1, min(self._most(batch, chances), int(self._whole.sum()))))
        return top.indices, top.values.clamp_min(0), batch

    def _most(self, batch: Sequence[Holes], chances: Tensor) -> int:
        """How many candidates some hole of the batch has."""
        least = [row.row.threshold for row in batch for _ in row.at]
        likely = (chances >= torch.tensor([x or 0.0 for x in least], device=chances.device)[:, None]).sum(-1).tolist()
        caps = [row.row.k for row in batch for _ in row.at]
        return max(_count(cap, None if x is None else n) for cap, n, x in zip(caps, likely, least, strict=True))

    def _fills(self, ids: Tensor, chances: Tensor, batch: Sequence[Holes]) -> Iterator[Fills]:
        start = 0
        for row in batch:
            part = slice(start, start + len(row.at))
            yield self._fill(row.row, ids[part].tolist(), chances[part].numpy())
            start = part.stop

    def _fill(self, row: FillRow, ids: list[list[int]], chances: Any) -> Fills:
        """The candidates of one row; a hole that has fewer of them than another has zeros behind its last."""
        least = None if row.threshold is None else np.float32(row.threshold)  # as in `_most`
        likely = [None] * len(ids) if least is None else (chances >= least).sum(axis=1).tolist()
        counts = [min(_count(row.k, n), len(hole)) for n, hole in zip(likely, ids, strict=True)]
        words = tuple(tuple(self._word(i) for i in hole[:n]) for hole, n in zip(ids, counts, strict=True))
        table = chances[:, : max(counts, default=0)].copy()
        for own, n in zip(table, counts, strict=True):
            own[n:] = 0
        return Fills(words, table)

    def _holes(self, row: FillRow) -> Holes | Unanswerable:
        mask = self.spelling[Symbol.MASK]
        text = row.text.with_words([w if kept else mask for w, kept in zip(row.text.words, row.keep, strict=True)])
        pieces = self.encoder.pieces(_worded(text.read))
        first = {int(w): int(p) for p, w in zip(pieces.piece[::-1], pieces.word[::-1], strict=True)}
        holes = [w for w, kept in enumerate(row.keep) if not kept]
        if beyond := [row.text.words[w] for w in holes if w not in first]:
            return Unanswerable(f"{beyond[0]!r} stands beyond the window of the masked language model {self.name}.")
        return Holes(row, pieces, tuple(first[w] for w in holes))

    def reader(self, text: Text) -> int | None:
        """The first mask of a text that has a settled hole."""
        return int(self._once(text.strings).at[0]) if self.settled(text) else None

    def _open(self, text: Text, given: dict[str, str]) -> Opened:
        string, mask = text.strings[0], self.spelling[Symbol.MASK]
        word = given.get("word")
        if (count := string.count(mask)) > 1:
            raise BadInput(f"the text has {count} {mask}; the hole that is explained must be the only one.")
        if mask in string:
            start = string.index(mask)
            return self._opened_at(text, (start, start + len(mask)), word)
        if word is None:
            raise BadInput(f"put {mask} in the place of one word, or name a word of the text as the second text.")
        place = find_word(string, word)
        return self._opened_at(text, place, string[slice(*place)])

    def _opened_at(self, text: Text, place: Span, word: str | None) -> Opened:
        before, hole, after = around(text.fields[0], place, "hole")
        blank = " " if before.string[-1:].isspace() else ""
        masks = 1 if word is None else len(self.known(blank + word.strip()))
        if not masks:
            raise BadInput(f"{word!r} is no word that {self.name} could put into the hole.")
        hole = Field(hole.name, self.spelling[Symbol.MASK] * masks, (), hole.part)
        holed = Text((before, hole, after), ("before", "after"))
        row = self._rows([(*holed.strings, "")])[0]
        if isinstance(row, AssayError):
            raise row
        return Opened(row.ids, row.types, row.at, holed, blank, word)

    def _settle(self, batch: Sequence[Opened]) -> list[Text | AssayError]:
        chances = self._projected(batch, [(i, row.at[0]) for i, row in enumerate(batch)])
        best = chances.masked_fill(~self._whole, -torch.inf).argmax(-1).tolist()
        return [self._settled(row, token) for row, token in zip(batch, best, strict=True)]

    def _settled(self, row: Opened, likeliest: int) -> Text:
        """The text with the user's word for the hole, or with the likeliest one."""
        word = self._word(likeliest) if row.word is None else row.word.strip()
        ids = (likeliest,) if row.word is None else self.known(row.blank + word)
        note = Field("word", self.note(ids, word, row.blank + word), (), "note")
        return Text((*row.text.fields, note), row.text.focus)

    def _rows(self, rows: Sequence[Row]) -> Sequence[Wanted | AssayError]:
        strings = ["".join(row[:3]) for row in rows]
        coded = self.encoder.rows([(string,) for string in strings])
        placed = zip(rows, coded, self.encoder.offsets(strings), strict=True)
        return [self._wanted(row, *ids_and_types, offsets) for row, ids_and_types, offsets in placed]

    def _wanted(
        self, row: Row, ids: list[int], types: list[int] | None, offsets: Sequence[Span]
    ) -> Wanted | AssayError:
        start, end = len(row[0]), len(row[0]) + len(row[1])
        before, after = map(len, self.encoder.template(1).specials)
        touched = [before + i for i, (a, b) in enumerate(offsets) if a < end and start < b]
        at = tuple(i for i in touched if i < len(ids) - after and ids[i] == self.tokenizer.mask_token_id)
        tokens = self.tokens(row[3]) if row[3] else ()
        if not at or (tokens and len(tokens) != len(at)):
            return Unanswerable(f"the hole stands beyond the window of the masked language model {self.name}.")
        return Wanted(ids, types, at, tokens)

    def _word(self, token: int) -> str:
        return remembered(self._words, token, lambda i: str(self.tokenizer.decode([i])).removeprefix("##").strip())

    @cached_property
    def _tokens(self) -> list[str]:
        size = self.model.get_output_embeddings().weight.shape[0]
        return [token or "" for token in self.tokenizer.convert_ids_to_tokens(list(range(size)))]

    @cached_property
    def _plain(self) -> Tensor:
        """Tokens that are text at all: no special tokens, no unused places."""
        special = set(self.tokenizer.all_special_tokens)
        usable = [t not in special and bool(t) and not t.startswith("[unused") for t in self._tokens]
        return torch.tensor(usable, device=self.device)

    @cached_property
    def _whole(self) -> Tensor:
        """Tokens that are a whole word: not a continuation, in the tokenizer's own way of marking."""
        starts = next(
            (mark for mark in "Ġ▁" if sum(t.startswith(mark) for t in self._tokens) > 0.01 * len(self._tokens)), ""
        )
        whole = [t.startswith(starts) and len(t) > len(starts) and not t.startswith("##") for t in self._tokens]
        if starts == "Ġ":  # a byte-level token may be a part of a character
            whole = [w and "\ufffd" not in self._word(i) and bool(self._word(i)) for i, w in enumerate(whole)]
        return torch.tensor(whole, device=self.device) & self._plain


def _count(cap: int | None, likely: int | None) -> int:
    """How many candidates a hole has: the likely ones, at least one, and not more than are wanted."""
    return min(n for n in (cap, None if likely is None else max(1, likely)) if n is not None)


def _worded(text: Text) -> Text:
    """Without an image: what stands in its field is a name for other models, no words."""
    return Text(tuple(f for f in text.fields if f.name != IMAGE or f.name in text.focus), text.focus)
