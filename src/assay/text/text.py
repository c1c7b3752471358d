"""A text is its exact string, and the words that an explanation speaks about.

    Text.of("don't panic!").words        ("don't", "panic", "!")
    Text.of(("a man", "a person"))       a pair: fields premise and hypothesis

Nothing of the string is lost: gap 0, word 0, gap 1, ..., word n-1, gap n is the string again. A word taken away takes
one neighbouring gap with it, so that "a fine film" without its second word is "a film"; which gap remains is a rule
that does not depend on the order of removals (`join`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import chain, compress, pairwise, repeat
from typing import Any, Literal, TypeAlias, Union

import numpy as np
import regex

from assay.errors import BadInput, BadText, EmptyText, UnknownName
from assay.text.splitting import SPLITTERS, Splitter, Unit, joined, spans_by, splitter_named
from assay.text.splitting import Span as Span

Masks: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Row = tuple[str, ...]
Part = Literal["own", "first", "middle", "last", "note"]
IMAGE = "image"  # the field of the name of an image: no words
TextLike = Union[str, tuple[str, str], Mapping[str, str], "Text"]

_BLANK = regex.compile(r"\s")


@dataclass(frozen=True)
class Field:
    """One named string and the spans of its words.

    `part` says how models read it: a text of its own, the first, a middle or the last part of a string that stands in
    several fields, or a note that says what is explained and that no model reads.
    """

    name: str
    string: str
    spans: tuple[Span, ...]
    part: Part = "own"

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
        return self._bare and self._spaced

    @cached_property
    def _spaced(self) -> bool:
        """Words one blank apart, in a string of their own."""
        return self._alone and all(gap == " " for gap in self.gaps[1:-1])

    @property
    def _alone(self) -> bool:
        return self.part in ("own", "note") and bool(self.spans)

    @cached_property
    def _bare(self) -> bool:
        """Nothing around the words, neither gaps nor other parts of the string."""
        return self.part in ("own", "note") and not self.gaps[0] and not self.gaps[-1]

    def join(self, words: Sequence[str | None]) -> str:
        """The string with these words in place of its own; None leaves a word out."""
        if self.plain:
            return " ".join([word for word in words if word is not None])
        kept = [i for i, word in enumerate(words) if word is not None]
        if not kept:
            return self._emptied() if words else self.string
        start, end = self._edges(kept)
        gaps, parts = self.gaps, [start, words[kept[0]] or ""]
        for before, i in pairwise(kept):
            parts += (gaps[i] if i == before + 1 else self._between(before + 1, i), words[i] or "")
        return "".join([*parts, end])

    def versions(self, keep: Masks, fill: str | None) -> list[str]:
        """`join` for many rows at once: words where the mask is true; elsewhere `fill`, or nothing."""
        if fill is not None:
            return _picked(
                (*zip(self.gaps, self.words, repeat(fill), strict=False), self.gaps[-1:]), self._filled(keep)
            )
        if self._spaced:
            found = [" ".join(compress(self.words, kept)) for kept in keep.tolist()]
        elif self._simple:
            picked = _picked(zip(repeat(" "), self.words, strict=False), self._led(keep))
            found = [string[1:] for string in picked]
        else:
            rows = ([w if k else None for w, k in zip(self.words, kept, strict=True)] for kept in keep.tolist())
            return [self.join(row) for row in rows]
        return found if self._bare else [f"{self.gaps[0]}{one}{self.gaps[-1]}" if one else "" for one in found]

    def _filled(self, keep: Masks) -> Masks:
        """Which of gap, word, fill, gap, word, fill, ..., gap make each string."""
        always = np.ones_like(keep)
        threes = np.stack([always, keep, ~keep], axis=2).reshape(len(keep), 3 * keep.shape[1])
        return np.concatenate([threes, np.ones((len(keep), 1), dtype=bool)], axis=1)

    def _led(self, keep: Masks) -> Masks:
        """Which of blank, word, blank, word, ... make each string: a blank where one stood since the word before."""
        blanks = np.cumsum([gap == " " for gap in self.gaps[:-1]])
        last = np.maximum.accumulate(np.where(keep, blanks, -1), axis=1)
        before = np.concatenate([np.full((len(keep), 1), -1), last[:, :-1]], axis=1)
        return np.stack([keep & (before != blanks), keep], axis=2).reshape(len(keep), 2 * keep.shape[1])

    @cached_property
    def _simple(self) -> bool:
        """Words one blank apart or not at all, in a string of their own."""
        return self._alone and all(gap in ("", " ") for gap in self.gaps[1:-1])

    @cached_property
    def _nearest(self) -> tuple[list[int], list[int]]:
        """From each gap on, the first that has white space, and the first that is not empty."""
        blank, filled = [len(self.gaps)], [len(self.gaps)]
        for i in reversed(range(len(self.gaps))):
            blank.append(i if _BLANK.search(self.gaps[i]) else blank[-1])
            filled.append(i if self.gaps[i] else filled[-1])
        return blank[::-1], filled[::-1]

    def _between(self, first: int, last: int) -> str:
        """One gap for a run of them: the first with white space, else the first that is not empty, else none."""
        blank, filled = self._nearest
        at = blank[first] if blank[first] <= last else filled[first]
        return self.gaps[at] if at <= last else ""

    def with_words(self, words: Sequence[str | None]) -> Field:
        """The field itself with these words, each still one word with its exact span."""
        string, spans, at = self.join(words), [], 0
        kept = [i for i, word in enumerate(words) if word is not None]
        for before, i in zip([None, *kept], kept, strict=False):
            word = words[i] or ""
            at += len(self._edges(kept)[0] if before is None else self._between(before + 1, i))
            spans.append((at, at + len(word)))
            at += len(word)
        return Field(self.name, string, tuple(spans), self.part)

    def _edges(self, kept: Sequence[int]) -> tuple[str, str]:
        """What stands before the first kept word and behind the last; inside a string, one gap of the run there."""
        return (
            self._between(0, kept[0]) if self.part in ("middle", "last") else self.gaps[0],
            self._between(kept[-1] + 1, len(self.spans)) if self.part in ("first", "middle") else self.gaps[-1],
        )

    def _emptied(self) -> str:
        """What remains without any word: the edge of the string, where other parts of it have words."""
        return {"first": self.gaps[0], "last": self.gaps[-1]}.get(self.part, "")

    def joined(self, splitter: Splitter) -> Field:
        """The same string in coarser units: its words, joined where the splitter does not part them."""
        edges = [start for start, _ in splitter(self.string)]
        return Field(self.name, self.string, tuple(joined(self.spans, edges)), self.part)


def _picked(parts: Iterable[Sequence[str]], picks: Masks) -> list[str]:
    flat = list(chain.from_iterable(parts))
    return ["".join(compress(flat, pick)) for pick in picks.tolist()]


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
