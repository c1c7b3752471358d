"""A row of a dataset: its strings, its label, and what people marked in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from assay.text.text import Row, Span


class Mark(NamedTuple):
    """A marked stretch of one of the strings: which string, and its characters from start to before end."""

    string: int
    start: int
    end: int


@dataclass(frozen=True)
class Example:
    """One row; `marks` holds one tuple for every person who marked the texts, empty where they marked nothing."""

    id: str
    strings: Row
    label: str | None = None
    marks: tuple[tuple[Mark, ...], ...] = ()

    @property
    def text(self) -> str | Row:
        """As the verbs take it: a string, or a pair of them."""
        return self.strings[0] if len(self.strings) == 1 else self.strings


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
