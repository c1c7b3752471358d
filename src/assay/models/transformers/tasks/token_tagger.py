"""Hugging Face token classifiers: the tag of one word.

    ("Ann Lee lives in Rome", "4:Rome")        the word by its number, counted from 0, by itself, or both

Without the second text it is the word with the likeliest tag other than O. Its tag is that of its first piece, as in
training. The settled text has three fields that are one string: before, word, after; so the place is that of the word
in the original text, whatever is erased around it. The word itself is explained too: erasers that put something in its
place do so, and where it is deleted the mask token (or else the unknown token) stands there, as a tag needs a place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from torch import Tensor

from assay.errors import AssayError, BadInput, Unanswerable
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.base import Task, at_least_two
from assay.models.transformers.tasks.places import around, find_word
from assay.models.transformers.tokens import Pieces
from assay.text.text import Row, Span, Text

_OUTSIDE = "O"


class Tagged(NamedTuple):
    """A row and the piece whose tag is asked."""

    ids: list[int]
    types: list[int] | None
    at: int


class OpenedTags(NamedTuple):
    """A text, the first piece of each of its words that has one, and the word that the user chose."""

    ids: list[int]
    types: list[int] | None
    text: Text
    firsts: dict[Span, int]
    chosen: Span | None


class TokenTagger(Task):
    """Answers with the logits of all tags at one word."""

    kind = "token classifier"
    notes = ("word",)
    widths = (3,)
    optional = 1

    def __init__(self, network: Network, fields: Sequence[str] = ()) -> None:
        super().__init__(network, ("text", "word"))
        tokenizer = network.tokenizer
        if not network.encoder.has_offsets:
            raise Unanswerable(f"{network.name} has a slow tokenizer, which does not say which word a piece is of.")
        self.focus = ("text",)
        stand_ins = (tokenizer.mask_token, tokenizer.unk_token, tokenizer.pad_token, tokenizer.eos_token)
        self._stand_in = next((token for token in stand_ins if token), None)

    def reader(self, text: Text) -> int | None:
        if not self.settled(text):
            return None
        row = self.once(text.strings)
        if isinstance(row, AssayError):
            raise row
        return int(row.at)

    def pieces(self, text: Text) -> Pieces:
        """What stands in the place of a deleted word is read with the text, and belongs to none of its words."""
        return super().pieces(self._with_place(text) if self.settled(text) else text)

    def _with_place(self, text: Text) -> Text:
        before, word, after = text.fields
        return Text((before, replace(word, string=word.string or self._stand_in or ""), after), text.focus)

    def open(self, text: Text, given: dict[str, str]) -> OpenedTags:
        (string,) = text.strings[:1]
        chosen = find_word(string, given["word"]) if "word" in given else None
        (ids, types), (offsets,) = self.network.encoder.rows([(string,)])[0], self.network.encoder.offsets([string])
        words = Text.of(string).spans
        found = {span: self._first(ids, offsets, span) for span in words}
        firsts = {span: first for span, first in found.items() if first is not None}
        if not firsts or (chosen and chosen not in firsts):
            lost = string[slice(*chosen)] if chosen else string
            raise BadInput(f"the tokenizer of {self.network.name} finds nothing in {lost[:40]!r}, so it has no tag.")
        return OpenedTags(ids, types, text, firsts, chosen)

    def settle(self, batch: Sequence[OpenedTags]) -> list[Text | AssayError]:
        logits = self._all(batch)
        return [_settled(row, row.chosen or self._striking(row, own)) for row, own in zip(batch, logits, strict=True)]

    def _striking(self, row: OpenedTags, logits: Tensor) -> Span:
        """The word with the likeliest tag other than O; among equals the first."""
        inside = [i for i, label in enumerate(self.labels) if label != _OUTSIDE] or [0]
        chances = logits[list(row.firsts.values())].softmax(-1)[:, inside].amax(-1)
        return list(row.firsts)[int(chances.argmax())]

    def rows(self, rows: Sequence[Row]) -> Sequence[Tagged | AssayError]:
        words = [word or self._stand_in for _, word, _ in rows]
        strings = ["".join((row[0], word or "", row[2])) for row, word in zip(rows, words, strict=True)]
        coded = self.network.encoder.rows([(string,) for string in strings])
        spans = [(len(row[0]), len(row[0]) + len(word or "")) for row, word in zip(rows, words, strict=True)]
        placed = zip(coded, self.network.encoder.offsets(strings), spans, strict=True)
        return [self._tagged(*row, self._first(row[0], offsets, span)) for row, offsets, span in placed]

    def _tagged(self, ids: list[int], types: list[int] | None, at: int | None) -> Tagged | AssayError:
        if at is None:
            return Unanswerable(
                f"a version of the text leaves no place for the explained word within what {self.network.name} sees; "
                "erase by another eraser, or shorten the text."
            )
        return Tagged(ids, types, at)

    def _first(self, ids: Sequence[int], offsets: Sequence[Span], span: Span) -> int | None:
        """The first piece of a word in the ids of a row, if the model sees one."""
        before, after = map(len, self.network.encoder.template(1).specials)
        whole = before + len(offsets) + after
        gone = whole - len(ids) if self.network.encoder.from_start else 0
        touched = (i - gone for i, (a, b) in enumerate(offsets) if a < span[1] and span[0] < b and i >= gone)
        at = next(touched, None)
        return before + at if at is not None and before + at < len(ids) - after else None

    def _all(self, batch: Sequence[Tagged | OpenedTags]) -> Tensor:
        """The logits of every piece [n, pieces, tags]."""
        inputs = self.network.inputs([row.ids for row in batch], [row.types for row in batch])
        return at_least_two(self.network.model(**inputs).logits)

    def logits(self, batch: Sequence[Tagged]) -> Tensor:
        return self._all(batch)[range(len(batch)), [row.at for row in batch]]


def _settled(row: OpenedTags, place: Span) -> Text:
    parts = around(row.text.fields[0], place, "word")
    return Text(parts, tuple(part.name for part in parts))
