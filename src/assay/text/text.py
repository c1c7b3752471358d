"""A text is its exact string, and the words that an explanation speaks about.

    Text.of("don't panic!").words        ("don't", "panic", "!")
    Text.of(("a man", "a person"))       a pair: fields premise and hypothesis

Nothing of a string is lost when words are taken away or replaced: see assay.text.field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import repeat
from typing import Union

import numpy as np

from assay.errors import BadInput, BadText, EmptyText, UnknownName
from assay.text.field import Field as Field
from assay.text.field import Masks as Masks
from assay.text.field import Part as Part
from assay.text.splitting import SPLITTERS, Splitter, Unit, spans_by, splitter_named
from assay.text.splitting import Span as Span

Row = tuple[str, ...]
IMAGE = "image"  # the field of the name of an image: no words
TextLike = Union[str, tuple[str, str], Mapping[str, str], "Text"]


@dataclass(frozen=True)
class Text:
    """Named fields; the words of the fields in focus are explained, the other fields stay as they are."""

    fields: tuple[Field, ...]
    focus: tuple[str, ...]

    @classmethod
    def of(
        cls,
        source: TextLike,
        *,
        names: Sequence[str] | None = None,
        focus: Sequence[str] | None = None,
        split: str | Splitter = "words",
    ) -> Text:
        """Read a string, a pair of strings, or named strings."""
        if isinstance(source, Text):
            return source if focus is None else cls(source.fields, _focus(focus, [f.name for f in source.fields]))
        strings = _named(source, names)
        splitter = split if callable(split) else splitter_named(split)
        fields = tuple(Field(name, string, spans_by(splitter, string)) for name, string in strings.items())
        return cls(fields, _focus(focus, list(strings)))

    @cached_property
    def strings(self) -> Row:
        return tuple(field.string for field in self.fields)

    @cached_property
    def words(self) -> tuple[str, ...]:
        fields = self.explained
        return fields[0].words if len(fields) == 1 else tuple([word for field in fields for word in field.words])

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """Where each word stands in the string of its own field."""
        return tuple(span for field in self.explained for span in field.spans)

    @cached_property
    def where(self) -> tuple[str, ...]:
        """The field of each word."""
        return tuple(field.name for field in self.explained for _ in field.spans)

    @cached_property
    def explained(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if field.name in self.focus)

    @cached_property
    def seed(self) -> int:
        """A number that depends on the strings only; mixed with the run's seed it starts this text's generator."""
        digest = blake2b("\x1f".join(self.strings).encode(), digest_size=8)
        return int.from_bytes(digest.digest())

    def __hash__(self) -> int:
        return self.seed  # asked for often, as texts are parts of rows; the same in every process

    def __len__(self) -> int:
        return len(self.words)

    def __str__(self) -> str:
        return " | ".join(self.strings)

    def require_words(self) -> Text:
        """This text, or an error where there is no word to explain."""
        if not self.words:
            raise EmptyText(f"the text {str(self)[:40]!r} has no word to explain.")
        return self

    def by(self, unit: Unit) -> Text:
        """The same strings with whole phrases or sentences as words; no word is cut, no unit spans two fields."""
        if unit == "words":
            return self
        splitter = SPLITTERS[unit]
        return Text(tuple(f.joined(splitter) if f.name in self.focus else f for f in self.fields), self.focus)

    @cached_property
    def read(self) -> Text:
        """The text as models read it: without notes, and each string in one field; its words are the same."""
        if all(field.part == "own" for field in self.fields):
            return self
        fields: list[Field] = []
        for field in self.fields:
            spans = field.spans if field.name in self.focus else ()
            if field.part in ("middle", "last"):
                fields[-1] = _longer(fields[-1], field.string, spans)
            elif field.part != "note":
                fields.append(Field(field.name, field.string, spans))
        return Text(tuple(fields), tuple(field.name for field in fields if field.spans))

    def row(self, words: Sequence[str | None]) -> Row:
        """The strings with these words in place of the explained ones; None leaves a word out."""
        if len(self.fields) == 1:
            return (self.fields[0].join(words),)
        parts = self._parts(words)
        return tuple(f.join(parts[f.name]) if f.name in parts else f.string for f in self.fields)

    def rows(self, keep: Masks, fill: str | None) -> list[Row]:
        """`row` for many masks over the explained words at once."""
        columns: list[Iterable[str]] = []
        at = 0
        for field in self.fields:
            size = len(field.spans) if field.name in self.focus else 0
            columns.append(field.versions(keep[:, at : at + size], fill) if size else repeat(field.string, len(keep)))
            at += size
        return list(zip(*columns, strict=True))

    def with_words(self, words: Sequence[str | None]) -> Text:
        if len(words) != len(self):
            raise BadInput(f"a text of {len(self)} words takes as many words, not {len(words)}.")
        parts = self._parts(words)
        return Text(tuple(f.with_words(parts[f.name]) if f.name in parts else f for f in self.fields), self.focus)

    def keep(self, mask: Sequence[bool] | np.ndarray) -> Text:
        """Only the words where the mask is true."""
        return self.with_words([word if kept else None for word, kept in zip(self.words, mask, strict=True)])

    def without(self, i: int) -> Text:
        return self.replace(i, None)

    def replace(self, i: int, word: str | None) -> Text:
        if not 0 <= i < len(self):
            raise BadInput(f"there is no word {i} in a text of {len(self)} words.")
        return self.with_words([*self.words[:i], word, *self.words[i + 1 :]])

    def _parts(self, words: Sequence[str | None]) -> dict[str, Sequence[str | None]]:
        parts, at = {}, 0
        for field in self.explained:
            parts[field.name] = words[at : at + len(field.spans)]
            at += len(field.spans)
        return parts


def _longer(field: Field, string: str, spans: Iterable[Span]) -> Field:
    """The field with a string behind its own, and with the words of that string."""
    n = len(field.string)
    return Field(field.name, field.string + string, (*field.spans, *((a + n, b + n) for a, b in spans)))


def _named(source: object, names: Sequence[str] | None) -> dict[str, str]:
    match source:
        case str():
            strings = {(names or ["text"])[0]: source}
        case Mapping():
            strings = dict(source)
        case bytes() | bytearray():
            raise BadText("a text is a string, not bytes; decode it: text.decode('utf-8').")
        case tuple() | list() if len(source) == 2:
            strings = dict(zip(names if names and len(names) == 2 else ("premise", "hypothesis"), source, strict=True))
        case _:
            raise BadText(f"a text is a string, a pair of strings or a mapping of strings, not {source!r:.60}.")
    for name, string in strings.items():
        _require_readable(name, string)
    return strings


def strings_of(source: TextLike) -> Row:
    """The strings of a text, which is not split into words for that."""
    return source.strings if isinstance(source, Text) else tuple(_named(source, None).values())


def _require_readable(name: str, string: object) -> None:
    if not isinstance(string, str):
        raise BadText(f"the field {name!r} must be a string, not {type(string).__name__}.")
    try:
        string.encode()
    except UnicodeEncodeError as error:
        raise BadText(
            f"the text has a lone surrogate at character {error.start}, which no tokenizer can read; "
            "decode the bytes again with errors='replace'."
        ) from None


def _focus(focus: Sequence[str] | None, names: Sequence[str]) -> tuple[str, ...]:
    if focus is None:
        return tuple(names)
    chosen = (focus,) if isinstance(focus, str) else tuple(focus)
    for name in chosen:
        if name not in names:
            raise UnknownName.of("field", name, names)
    return chosen
