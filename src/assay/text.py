"""A text is its exact string, and the words that an explanation speaks about.

    Text.of("don't panic!").words        ("don't", "panic", "!")
    Text.of(("a man", "a person"))       a pair: fields premise and hypothesis

Nothing of the string is lost: gap 0, word 0, gap 1, ..., word n-1, gap n is the string again. A word taken away takes
one neighbouring gap with it, so that "a fine film" without its second word is "a film"; which gap remains is a rule
that does not depend on the order of removals (`join`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import Union

import numpy as np
import regex

from assay.errors import BadInput, BadText, EmptyText, UnknownName

Span = tuple[int, int]
Row = tuple[str, ...]
Splitter = Callable[[str], Iterable[Span]]
TextLike = Union[str, tuple[str, str], Mapping[str, str], "Text"]

# Letters and digits with inner apostrophes; a Han or Hiragana character alone; any other visible sign alone
# (a whole grapheme, so that an emoji family or a flag stays one word). Controls and zero-width signs stand in the gaps.
_WORD = regex.compile(
    r"""(?V1)
    [\p{Han}\p{Hiragana}]\p{M}*
  | [[\p{L}\p{N}_]--[\p{Han}\p{Hiragana}]] [[\p{L}\p{N}\p{M}_\u200c\u200d]--[\p{Han}\p{Hiragana}]]*
    (?: ['’] [\p{L}\p{N}] [\p{L}\p{N}\p{M}_]* )*
  | (?! [\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}] ) \X
    """,
    regex.VERBOSE,
)
_BLANK = regex.compile(r"\s")
_CHUNK = regex.compile(r"\S+")
_SENTENCE = regex.compile(r"\S(?:.*?\S)??(?:(?<=[.!?][\"'”’)\]]*)(?=\s)|(?<=[。！？])|(?=\s*\Z))", regex.DOTALL)


def _by(pattern: regex.Pattern[str]) -> Splitter:
    return lambda string: [match.span() for match in pattern.finditer(string)]


SPLITTERS: dict[str, Splitter] = {"words": _by(_WORD), "whitespace": _by(_CHUNK), "sentences": _by(_SENTENCE)}


@dataclass(frozen=True)
class Field:
    """One named string and the spans of its words."""

    name: str
    string: str
    spans: tuple[Span, ...]

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(self.string[start:end] for start, end in self.spans)

    @cached_property
    def gaps(self) -> tuple[str, ...]:
        """What stands before, between and after the words: one more than there are words."""
        edges = [0, *(edge for span in self.spans for edge in span), len(self.string)]
        return tuple(self.string[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))

    @cached_property
    def plain(self) -> bool:
        """All words one blank apart and nothing around them: the usual case, joined without looking at gaps."""
        return all(gap == " " for gap in self.gaps[1:-1]) and not self.gaps[0] and not self.gaps[-1]

    def join(self, words: Sequence[str | None]) -> str:
        """The string with these words in place of its own; None leaves a word out."""
        if self.plain:
            return " ".join([word for word in words if word is not None])
        kept = [i for i, word in enumerate(words) if word is not None]
        if not kept:
            return "" if words else self.string
        parts = [self.gaps[0]]
        for before, i in zip([None, *kept], kept, strict=False):
            parts += ("" if before is None else _between(self.gaps[before + 1 : i + 1]), words[i] or "")
        return "".join([*parts, self.gaps[-1]])

    def with_words(self, words: Sequence[str | None]) -> Field:
        """The field itself with these words, each still one word with its exact span."""
        string, spans, at = self.join(words), [], 0
        kept = [i for i, word in enumerate(words) if word is not None]
        for before, i in zip([None, *kept], kept, strict=False):
            word = words[i] or ""
            at += len(self.gaps[0] if before is None else _between(self.gaps[before + 1 : i + 1]))
            spans.append((at, at + len(word)))
            at += len(word)
        return Field(self.name, string, tuple(spans))


def _between(gaps: Sequence[str]) -> str:
    """One gap for a run of them: the first with white space, else the first that is not empty, else none."""
    return next((g for g in gaps if _BLANK.search(g)), next((g for g in gaps if g), ""))


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
        splitter = split if callable(split) else _splitter(split)
        fields = tuple(Field(name, string, _spans(splitter, string)) for name, string in strings.items())
        return cls(fields, _focus(focus, list(strings)))

    @cached_property
    def strings(self) -> Row:
        return tuple(field.string for field in self.fields)

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(word for field in self.explained for word in field.words)

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

    @cached_property
    def plain(self) -> bool:
        """One field, its words one blank apart: a version without some words is a plain join."""
        return len(self.fields) == 1 and self.fields[0].plain

    def __len__(self) -> int:
        return len(self.words)

    def __str__(self) -> str:
        return " | ".join(self.strings)

    def require_words(self) -> Text:
        """This text, or an error where there is no word to explain."""
        if not self.words:
            raise EmptyText(f"the text {str(self)[:40]!r} has no word to explain.")
        return self

    def row(self, words: Sequence[str | None]) -> Row:
        """The strings with these words in place of the explained ones; None leaves a word out."""
        if len(self.fields) == 1:
            return (self.fields[0].join(words),)
        parts = self._parts(words)
        return tuple(f.join(parts[f.name]) if f.name in parts else f.string for f in self.fields)

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


def _named(source: object, names: Sequence[str] | None) -> dict[str, str]:
    match source:
        case str():
            strings = {(names or ["text"])[0]: source}
        case Mapping():
            strings = dict(source)
        case tuple() | list() if len(source) == 2:
            strings = dict(zip(names if names and len(names) == 2 else ("premise", "hypothesis"), source, strict=True))
        case _:
            raise BadText(f"a text is a string, a pair of strings or a mapping of strings, not {source!r:.60}.")
    for name, string in strings.items():
        _require_readable(name, string)
    return strings


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


def _splitter(name: str) -> Splitter:
    if name not in SPLITTERS:
        raise UnknownName.of("splitter", name, SPLITTERS)
    return SPLITTERS[name]


def _spans(splitter: Splitter, string: str) -> tuple[Span, ...]:
    spans = tuple((start, end) for start, end in splitter(string))
    edges = [0, *(edge for span in spans for edge in span), len(string)]
    if any(later < earlier for earlier, later in pairwise(edges)):
        raise BadInput("a splitter must return spans in order, without overlap and inside the text.")
    return spans


def _focus(focus: Sequence[str] | None, names: Sequence[str]) -> tuple[str, ...]:
    if focus is None:
        return tuple(names)
    chosen = (focus,) if isinstance(focus, str) else tuple(focus)
    for name in chosen:
        if name not in names:
            raise UnknownName.of("field", name, names)
    return chosen
