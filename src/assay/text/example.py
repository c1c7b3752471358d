"""A row of a dataset: its strings, its label, and what people marked in them; or why it cannot be read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple, cast

from assay.errors import AssayError
from assay.text.text import Row, Span


class Mark(NamedTuple):
    """A marked stretch of one of the strings: which string, and its characters from start to before end."""

    string: int
    start: int
    end: int


@dataclass(frozen=True)
class Example:
    """One row; `marks` holds one tuple for every person who marked the texts, empty where they marked nothing.

    `position` counts the rows of the sample from 0; `error` says why a row has no strings; `extra` holds the values of
    the columns that a reader asked for besides.
    """

    id: str
    strings: Row = ()
    label: str | None = None
    marks: tuple[tuple[Mark, ...], ...] = ()
    position: int = field(default=0, compare=False)
    error: AssayError | None = None
    extra: Mapping[str, str | None] = field(default_factory=dict, compare=False, repr=False)

    @property
    def text(self) -> str | tuple[str, str]:
        """As the verbs take it: a string, or a pair of them."""
        return text_of(self.strings)

    def content(self) -> bytes:
        """What the row holds, apart from its id and its place, in one way of writing; digests are made of it."""
        return json.dumps([self.strings, self.label, self.marks]).encode() + b"\n"


def text_of(strings: Row) -> str | tuple[str, str]:
    """One string as it is, two as a pair; who has more of them gets an error from Text.of."""
    return strings[0] if len(strings) == 1 else cast(tuple[str, str], strings)


def joined(words: Sequence[str]) -> tuple[str, list[Span]]:
    """Words one blank apart, and where each of them stands."""
    spans, at = [], 0
    for word in words:
        spans.append((at, at + len(word)))
        at += len(word) + 1
    return " ".join(words), spans


def runs(string: int, spans: Sequence[Span], chosen: Iterable[int]) -> tuple[Mark, ...]:
    """The chosen words as marks; neighbours make one mark."""
    places = enumerate(sorted(set(chosen)))
    groups = [[i for _, i in group] for _, group in groupby(places, key=lambda place: place[1] - place[0])]
    return tuple(Mark(string, spans[group[0]][0], spans[group[-1]][1]) for group in groups)
