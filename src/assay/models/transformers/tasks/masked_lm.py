"""Masked language models: the probability of a word in a hole.

    ("The film was [MASK].", "good")        the probability of the word there; without it, of the likeliest whole word
    ("The film was good.", "3:good")        the word is made a hole, and its own probability there explained; the word
                                            by its number, counted from 0, by itself, or both

A word of several pieces has as many masks, and the product of its pieces' probabilities there. The settled text has
three fields that are one string: before, hole, after; the hole is never erased. The word is a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from assay.errors import AssayError, BadInput, ModelNotLoaded, Unanswerable
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.base import Task
from assay.models.transformers.tasks.places import around, find_word
from assay.models.transformers.tasks.projection import Wanted, outcome_logits, places_of, projected
from assay.models.transformers.tasks.token_notes import TokenNotes, without_numbers
from assay.models.transformers.tasks.vocabulary import Vocabulary
from assay.text.text import Field, Row, Span, Text
from assay.text.variants import Symbol


class OpenedHole(NamedTuple):
    """A text with a hole in the place of its masks, what stands before the word there, and its tokens if known."""

    ids: list[int]
    types: list[int] | None
    at: tuple[int, ...]
    text: Text
    blank: str
    word: str | None


class MaskedLM(Task):
    """Answers with the logits of "other" and of one word in one hole."""

    kind = "masked language model"
    notes = ("word",)
    widths = (4,)
    optional = 1

    def __init__(self, network: Network, fields: Sequence[str] = ()) -> None:
        super().__init__(network, ("text", "word"))
        if network.tokenizer.mask_token is None or not network.encoder.has_offsets:
            raise ModelNotLoaded(f"{network.name} has no mask token (or a slow tokenizer), so it cannot fill holes.")
        self.focus = ("text",)
        self._answers_with("word")
        self.token_notes = TokenNotes(network, network.encoder.following)
        self.vocabulary = Vocabulary(network)

    def shown(self, note: Field) -> str:
        return without_numbers(note.string)

    def vocabulary_places(self, rows: Iterable[Wanted]) -> list[int]:
        return [len(row.at) for row in rows]

    def logits(self, batch: Sequence[Wanted]) -> Tensor:
        return outcome_logits(batch, projected(self.network, batch, places_of(batch)))

    def reader(self, text: Text) -> int | None:
        """The first mask of a text that has a settled hole."""
        return int(self.once(text.strings).at[0]) if self.settled(text) else None

    def open(self, text: Text, given: dict[str, str]) -> OpenedHole:
        string, mask = text.strings[0], self.network.spelling[Symbol.MASK]
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

    def _opened_at(self, text: Text, place: Span, word: str | None) -> OpenedHole:
        before, hole, after = around(text.fields[0], place, "hole")
        blank = " " if before.string[-1:].isspace() else ""
        masks = 1 if word is None else len(self._tokens_of(word.strip(), before.string, after.string))
        if not masks:
            raise BadInput(f"{word!r} is no word that {self.network.name} could put into the hole.")
        hole = Field(hole.name, self.network.spelling[Symbol.MASK] * masks, (), hole.part)
        holed = Text((before, hole, after), ("before", "after"))
        row = self.rows([(*holed.strings, "")])[0]
        if isinstance(row, AssayError):
            raise row
        return OpenedHole(row.ids, row.types, row.at, holed, blank, word)

    def settle(self, batch: Sequence[OpenedHole]) -> list[Text | AssayError]:
        """The model is asked only for words that the user did not name."""
        asked = [row for row in batch if row.word is None]
        chances = projected(self.network, asked, [(i, row.at[0]) for i, row in enumerate(asked)]) if asked else None
        best = (
            [] if chances is None else chances.masked_fill(~self.vocabulary.whole_words, -torch.inf).argmax(-1).tolist()
        )
        likeliest = iter(best)
        return [self._with_word(row, next(likeliest) if row.word is None else None) for row in batch]

    def _likeliest(self, batch: Sequence[OpenedHole]) -> list[int]:
        chances = projected(self.network, batch, [(i, row.at[0]) for i, row in enumerate(batch)])
        best: list[int] = chances.masked_fill(~self.vocabulary.whole_words, -torch.inf).argmax(-1).tolist()
        return best

    def _with_word(self, row: OpenedHole, likeliest: int | None) -> Text:
        """The text with the likeliest word for the hole, or with the user's."""
        word = (row.word or "").strip() if likeliest is None else self.vocabulary.word(likeliest)
        before, _, after = row.text.strings
        ids = self._tokens_of(word, before, after) if likeliest is None else (likeliest,)
        note = Field("word", self.token_notes.note(ids, word, row.blank + word, f" {word}"), (), "note")
        return Text((*row.text.fields, note), row.text.focus)

    def _tokens_of(self, word: str, before: str, after: str) -> tuple[int, ...]:
        """The tokens of a word in its place: at the start of a text some tokenizers spell it as behind a blank."""
        if before.strip():
            return self.token_notes.known(" " + word if before[-1].isspace() else word)
        start, encoder = len(before), self.network.encoder
        ids = encoder.standing(before + word + after, (start, start + len(word)))
        ids = encoder.standing(word, (0, len(word))) if ids is None else ids
        return self.token_notes.require(tuple(ids or ()), word)

    def rows(self, rows: Sequence[Row]) -> Sequence[Wanted | AssayError]:
        strings = ["".join(row[:3]) for row in rows]
        coded = self.network.encoder.rows([(string,) for string in strings])
        placed = zip(rows, coded, self.network.encoder.offsets(strings), strict=True)
        return [self._wanted(row, *ids_and_types, offsets) for row, ids_and_types, offsets in placed]

    def _wanted(
        self, row: Row, ids: list[int], types: list[int] | None, offsets: Sequence[Span]
    ) -> Wanted | AssayError:
        start, end = len(row[0]), len(row[0]) + len(row[1])
        before, after = map(len, self.network.encoder.template(1).specials)
        gone = before + len(offsets) + after - len(ids) if self.network.encoder.from_start else 0
        touched = [before + i - gone for i, (a, b) in enumerate(offsets) if a < end and start < b and i >= gone]
        at = tuple(i for i in touched if i < len(ids) - after and ids[i] == self.network.tokenizer.mask_token_id)
        tokens = self.token_notes.tokens(row[3]) if row[3] else ()
        if not at or (tokens and len(tokens) != len(at)):
            return Unanswerable(f"the blank lies beyond the window of the masked language model {self.network.name}.")
        return Wanted(ids, types, at, tokens)
