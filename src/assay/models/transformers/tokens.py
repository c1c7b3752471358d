"""Between strings and token ids: special tokens around fields, words to pieces, and a fast way for many similar rows.

Most rows are one text with some words changed, and nearly all tokenizers cut at blanks before anything else. So a row
is cut at its blanks, and the ids of each chunk are looked up (a chunk at the start of a field apart from one inside
it: byte-level tokenizers tell them apart). Whether a tokenizer is of that kind is read from its own description and
tried on probes; the first row of every call is compared with the tokenizer's own answer, and from the first
disagreement on the tokenizer does all the work itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from assay.errors import ModelNotLoaded, Unanswerable
from assay.models.transformers.blanks import cuts_at_blanks
from assay.models.transformers.shortening import owners, without_end, without_first_word, without_start
from assay.models.transformers.template import Template
from assay.text.text import Field, Row, Span, Text

T = TypeVar("T")
Encoded = tuple[list[int], list[int] | None]

_PROBES = (
    "a fine film",
    "Don't stop -- it 's 12,5 % (really) good!",
    "naïve café 東京 タワー 🙂👍🏽 ok",
    "x.y,z a_b #tag @me 1st",
    "É a İ ß",
    "  two words ",
    " one   ",
)
_MOST_CHUNKS = 500_000


@dataclass(frozen=True)
class Pieces:
    """A text as the model sees it: ids, types, and which word owns how much of which piece."""

    ids: list[int]
    types: list[int] | None
    piece: np.ndarray[Any, np.dtype[np.int64]]
    word: np.ndarray[Any, np.dtype[np.int64]]
    share: np.ndarray[Any, np.dtype[np.float32]]

    def __len__(self) -> int:
        return len(self.ids)


class Encoder:
    """A tokenizer, wrapped: rows of strings to ids, texts to pieces. The tokenizer itself is never changed."""

    def __init__(self, tokenizer: Any, window: int) -> None:
        self.tokenizer, self.window = deepcopy(tokenizer), window  # calling a tokenizer may change its settings
        self.tokenizer.model_max_length = 10**9  # cutting to the window is done here, and reported
        self.from_start = self.tokenizer.truncation_side == "left"  # what is too long loses its start, not its end
        self._templates: dict[int, Template] = {}
        self._start: dict[str, list[int]] = {}
        self._inside: dict[str, list[int]] = {}
        own = [self._own(probe) for probe in _PROBES]  # this also tells what is behind it not to pad and not to cut
        self.by_core = self.has_offsets and own == [self._with_offsets(probe)[0] for probe in _PROBES]
        self.by_chunks = (
            self.has_offsets and cuts_at_blanks(self.tokenizer) and own == [self._chunked(probe) for probe in _PROBES]
        )

    @property
    def has_offsets(self) -> bool:
        return bool(getattr(self.tokenizer, "is_fast", False))

    def rows(self, rows: Sequence[Row]) -> list[Encoded]:
        """Ids and types of each row, special tokens included, cut to the window."""
        if self.by_chunks and rows and any(self._chunked(s) != self._own(s) for s in rows[0]):
            self.by_chunks = False
        if not self.by_chunks:
            return self._rows_whole(rows)
        self._forget()
        if rows and all(len(row) == 1 for row in rows) and not self.template(1).has_types:
            return list(self._of_one_field(rows))
        return [self._framed([self._chunked(string) for string in row]) for row in rows]

    def _of_one_field(self, rows: Sequence[Row]) -> Iterator[Encoded]:
        """As `_framed`, of rows that have one field and need no types: nearly all there are."""
        before, after = self.template(1).specials
        room = self.window - len(before) - len(after)
        for (string,) in rows:
            ids = self._chunked(string)
            yield ([*before, *ids, *after], None) if len(ids) <= room else self._framed([ids])

    def pieces(self, text: Text) -> Pieces:
        """The pieces of the whole text and the words they belong to; a piece over two words is shared evenly."""
        template = self.template(len(text.fields))
        parts = [self._with_offsets(field.string) for field in text.fields]
        sizes = self._cut([len(ids) for ids, _ in parts])
        links, words_before, at = [], 0, len(template.specials[0])
        for field, (_, offsets), size, after in zip(text.fields, parts, sizes, template.specials[1:], strict=True):
            if field.name in text.focus:
                links += [(at + p, words_before + w, s) for p, w, s in owners(field, self._kept(offsets, size))]
                words_before += len(field.spans)
            at += size + len(after)
        piece, word, share = zip(*links, strict=True) if links else ((), (), ())
        row = self._framed([ids for ids, _ in parts])
        return Pieces(*row, np.array(piece, np.int64), np.array(word, np.int64), np.array(share, np.float32))

    def clip(self, text: Text) -> Text:
        """The text without the words beyond the window, fields cut at a word."""
        sizes = [len(self._field(field.string)) for field in text.fields]
        if sum(sizes) + self.template(len(sizes)).size <= self.window:
            return text
        if not self.has_offsets:
            raise Unanswerable(
                "this tokenizer does not say where its pieces stand, so a text beyond the window cannot be cut."
            )
        cut = self._cut(sizes)
        return Text(tuple(map(self._shortened, text.fields, cut)), text.focus)

    def _shortened(self, field: Field, size: int) -> Field:
        offsets = self._with_offsets(field.string)[1]
        if not self.from_start:
            return without_end(field, offsets, size)
        shorter = without_start(field, offsets, size)
        while shorter.spans and len(self._field(shorter.string)) > size:  # a blank may be a piece of its own
            shorter = without_first_word(shorter)
        return shorter

    def place(self, row: Row, i: int) -> tuple[int, int]:
        """Where the pieces of field i begin and end in the ids of a row."""
        sizes = self._cut([len(self._field(string)) for string in row])
        start = sum(map(len, self.template(len(row)).specials[: i + 1])) + sum(sizes[:i])
        return start, start + sizes[i]

    def covering(self, string: str, start: int, end: int) -> tuple[int, int]:
        """The first and the last piece of a string that have characters of this span."""
        offsets = self._with_offsets(string)[1]
        touched = [i for i, (a, b) in enumerate(offsets) if a < end and start < b]
        return touched[0], touched[-1]

    def standing(self, string: str, span: Span) -> list[int] | None:
        """The pieces of a part of a string; None where one reaches over more than the part and blanks beside it."""
        ids, offsets = self._with_offsets(string)
        touched = [i for i, (a, b) in enumerate(offsets) if a < span[1] and span[0] < b]
        over = (string[offsets[i][0] : span[0]] + string[span[1] : offsets[i][1]] for i in touched)
        return None if not touched or "".join(over).strip() else [ids[i] for i in touched]

    def following(self, string: str) -> list[int]:
        """The pieces of a string that goes on behind another one: nothing that is put before a text comes with it."""
        before, both = self._whole("\n"), self._whole(f"\n{string}")
        return both[len(before) :] if both[: len(before)] == before else self._whole(string)

    def offsets(self, strings: Sequence[str]) -> list[list[tuple[int, int]]]:
        """The characters of each piece, for many strings in one call."""
        if not strings:
            return []
        coded = self.tokenizer(list(strings), add_special_tokens=False, return_offsets_mapping=True)
        return list(coded["offset_mapping"])

    def spans(self, string: str) -> list[tuple[int, int]]:
        """The characters of each piece."""
        return self._with_offsets(string)[1]

    def framed(self, template: Template, window: int) -> Encoder:
        """The same with something else around a field than the tokenizer puts there."""
        (other := copy(self)).__dict__.update(window=window, _templates={1: template})
        return other

    def template(self, fields: int) -> Template:
        if fields not in self._templates:
            self._templates[fields] = self._learned(fields)
        return self._templates[fields]

    def _learned(self, fields: int) -> Template:
        """Read the special tokens off the tokenizer's own answer to one-letter fields."""
        encoding = self.tokenizer(*["a"] * fields)
        ids, types = encoding["input_ids"], encoding.get("token_type_ids") or [0] * len(encoding["input_ids"])
        letter = self._field("a")
        specials, kinds, field_types, at = [], [], [], 0
        for _ in range(fields):
            start = _find(ids, letter, at)
            specials.append(tuple(ids[at:start]))
            kinds.append(tuple(types[at:start]))
            field_types.append(types[start])
            at = start + len(letter)
        return Template((*specials, tuple(ids[at:])), (*kinds, tuple(types[at:])), tuple(field_types))

    def _framed(self, parts: list[list[int]]) -> Encoded:
        template = self.template(len(parts))
        if sum(map(len, parts)) + template.size > self.window:
            parts = list(map(self._kept, parts, self._cut([len(p) for p in parts])))
        return template.ids(parts), template.type_ids([len(p) for p in parts]) if template.has_types else None

    def _kept(self, part: list[T], size: int) -> list[T]:
        """What the tokenizer leaves of a field."""
        return part[len(part) - size :] if self.from_start else part[:size]

    def missing(self, row: Row, i: int) -> int:
        """How many pieces of field i are cut off at its start."""
        sizes = [len(self._field(string)) for string in row]
        return sizes[i] - self._cut(sizes)[i] if self.from_start else 0

    def _cut(self, sizes: list[int]) -> list[int]:
        """How much of each field fits: the longest is cut first, as transformers does."""
        room = self.window - self.template(len(sizes)).size
        if sum(sizes) <= room:
            return sizes
        if len(sizes) == 1:
            return [room]
        short = min(range(2), key=lambda i: (sizes[i], i))
        kept = min(sizes[short], room // 2)
        return [kept, room - kept] if short == 0 else [room - kept, kept]

    def _rows_whole(self, rows: Sequence[Row]) -> list[Encoded]:
        strings = list(chain.from_iterable(rows))
        ids = iter(self.tokenizer(strings, add_special_tokens=False)["input_ids"] if strings else [])
        return [self._framed([next(ids) for _ in row]) for row in rows]

    def _field(self, string: str) -> list[int]:
        return self._chunked(string) if self.by_chunks else self._whole(string)

    def _whole(self, string: str) -> list[int]:
        """By the tokenizer's core where it says the same: what transformers puts around it takes as long again."""
        return self._with_offsets(string)[0] if self.by_core else self._own(string)

    def _own(self, string: str) -> list[int]:
        return list(self.tokenizer(string, add_special_tokens=False)["input_ids"])

    def _chunked(self, string: str) -> list[int]:
        chunks, words = string.split(" "), string.split()
        if chunks == words:
            return self._looked_up(chunks)
        inner = string.strip(" ")
        chunks = inner.split(" ")
        if chunks != words or not inner:  # other white space than single blanks between words
            return self._whole(string)
        chunks[0] = string[: -len(string.lstrip(" "))] + chunks[0]  # blanks around a string stay with its edges
        chunks[-1] += string[len(string.rstrip(" ")) :]
        return self._looked_up(chunks)

    def _looked_up(self, chunks: list[str]) -> list[int]:
        try:
            inside = chain.from_iterable(map(self._inside.__getitem__, islice(chunks, 1, None)))
            return [*self._start[chunks[0]], *inside]
        except KeyError:
            self._learn(chunks)
            return self._looked_up(chunks)

    def _learn(self, chunks: Sequence[str]) -> None:
        self._start.setdefault(chunks[0], self._whole(chunks[0]))
        for chunk in chunks[1:]:
            if chunk not in self._inside:
                self._inside[chunk] = self._whole(" " + chunk)

    def _forget(self) -> None:
        if len(self._start) + len(self._inside) > _MOST_CHUNKS:
            self._start.clear()
            self._inside.clear()

    def _with_offsets(self, string: str) -> tuple[list[int], list[tuple[int, int]]]:
        if not self.has_offsets:
            return self._own(string), []
        encoding = self.tokenizer.backend_tokenizer.encode(string, add_special_tokens=False)
        return encoding.ids, encoding.offsets


def _find(ids: Sequence[int], part: Sequence[int], start: int) -> int:
    for at in range(start, len(ids) - len(part) + 1):
        if list(ids[at : at + len(part)]) == list(part):
            return at
    raise ModelNotLoaded(
        "the tokenizer does not leave a text as it is between its special tokens; Assay cannot use it."
    )
