"""The words of a map with their scores as a table, the strongest first: under the map on a page and in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text as Line

from assay.explanations.token_scores import TokenScores
from assay.views.say import signed
from assay.views.visible import one_line

_LONGEST = 30
_GAP = 3


@dataclass(frozen=True)
class ScoredWord:
    """A word, its place in the text (counted from 1), the field it stands in, and its score."""

    place: int
    word: str
    field: str
    score: str


def scored_words(e: TokenScores) -> list[ScoredWord]:
    """All words, from the largest size of a score to the smallest; among equals the earlier first."""
    order = np.argsort(-np.abs(e.scores), kind="stable").tolist()
    named = len(e.text.fields) > 1
    where = e.text.where
    return [ScoredWord(i + 1, e.words[i], where[i] if named else "", signed(e.scores[i])) for i in order]


@dataclass(frozen=True)
class ScoreTable:
    """Place, word and score, in as many columns as the terminal has room for, read down each column."""

    e: TokenScores

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Line("place, word and score, the strongest first", style="dim")
        for line in _lines(scored_words(self.e), options.max_width):
            yield Line(line.replace("−", "-") if options.ascii_only else line, no_wrap=True, overflow="ignore")


def _lines(words: list[ScoredWord], width: int) -> Iterator[str]:
    names = [one_line(f"{one.word} ({one.field})" if one.field else one.word) for one in words]
    size = min(_LONGEST, max(map(cell_len, names)))
    number, score = len(str(len(words))), max(len(one.score) for one in words)
    cells = [
        f"{one.place:>{number}} {_sized(name, size)} {one.score:>{score}}"
        for one, name in zip(words, names, strict=True)
    ]
    columns = max(1, (width + _GAP) // (number + size + score + 2 + _GAP))
    rows = -(-len(cells) // columns)
    for row in range(rows):
        yield (" " * _GAP).join(cells[row::rows]).rstrip()


def _sized(name: str, size: int) -> str:
    """Cut or filled to so many cells."""
    return set_cell_size(name, size) if cell_len(name) <= size else set_cell_size(name, size - 1) + "…"
