"""TokenMatrix: words down, tokens across, each cell shaded; below it the strongest words of each token in numbers.

Every token is shaded by its own strongest word: the scores of a sure token and of an unsure one differ much in size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text as Line

from assay.explanations.token_matrix import TokenMatrix
from assay.views.heat import shapes_for
from assay.views.say import chance, number, signed
from assay.views.shades import Piece, has_signs
from assay.views.templating import render
from assay.views.visible import one_line
from assay.views.wide import grid

_TOP = 4
_TOKEN, _WORD = 8, 16  # cells of a terminal for a token, and for a word


@dataclass(frozen=True)
class MatrixRow:
    """One word with what it does to each token; None where the token is not explained by this word."""

    word: str
    field: str
    first: bool  # whether it is the first of its field
    cells: tuple[Piece | None, ...]


@dataclass(frozen=True)
class TokenLine:
    """One token: its probability, and the words that it rests on most."""

    token: str
    chance: str
    words: tuple[Piece, ...]


def html(e: TokenMatrix) -> Markup:
    tokens = [shown(token) for token in e.tokens]
    values = {"tokens": tokens, "rows": matrix_rows(e), "lines": token_lines(e), "has_signs": has_signs(e)}
    return render("token_matrix.html.j2", score=_score, several=len(set(e.text.where)) > 1, **values)


def terminal(e: TokenMatrix) -> RenderableType:
    return _Matrix(e)


def shown(token: str) -> str:
    """A token for people: other white space by its picture, the blank before a word not at all."""
    shown = token.strip(" ") or token.replace(" ", "␣") or "∅"
    return shown.replace("\n", "␊").replace("\t", "␉")


def matrix_rows(e: TokenMatrix) -> list[MatrixRow]:
    sizes = np.nanmax(np.abs(e.scores), axis=1)
    known, where = has_signs(e), e.text.where
    return [
        MatrixRow(
            shown(word),
            where[i],
            i == 0 or where[i] != where[i - 1],
            tuple(
                None if np.isnan(score) else Piece(word, float(score), abs(score) / size if size else 0.0, signed=known)
                for score, size in zip(e.scores[:, i], sizes, strict=True)
            ),
        )
        for i, word in enumerate(e.words)
    ]


def token_lines(e: TokenMatrix) -> list[TokenLine]:
    lines = []
    for j, (token, p) in enumerate(zip(e.tokens, e.probabilities, strict=True)):
        best = e.top(j, _TOP)
        size = abs(best[0][1]) if best else 1.0
        words = tuple(Piece(shown(word), score, abs(score) / size, signed=has_signs(e)) for word, score in best)
        lines.append(TokenLine(shown(token), chance(p), tuple(word for word in words if word.sign != "plain")))
    return lines


@dataclass(frozen=True)
class _Matrix:
    """The cells where the terminal is wide enough for all tokens, and always the strongest words."""

    e: TokenMatrix

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        shapes, tokens = shapes_for(options), [_cut(shown(token), _TOKEN) for token in self.e.tokens]
        width = _WORD + 2 + sum(max(3, cell_len(token)) + 2 for token in tokens)
        if width <= options.max_width:
            yield _cells(self.e, tokens, shapes)
        table = Table.grid(padding=(0, 2, 0, 0))
        for line in token_lines(self.e):
            words = Line(_listed(line.words, shapes))
            table.add_row(Line(_cut(one_line(line.token), _WORD), style="bold"), Line(line.chance, style="dim"), words)
        yield Line("each token, its probability, and the words it rests on most", style="dim")
        yield table


def _cells(e: TokenMatrix, tokens: Sequence[str], shapes: dict[str, str]) -> Table:
    table = grid("", *tokens)
    for row in matrix_rows(e):
        marks = ["" if cell is None else _mark(cell, shapes) for cell in row.cells]
        table.add_row(_cut(one_line(row.word), _WORD), *marks)
    return table


def _mark(cell: Piece, shapes: dict[str, str]) -> str:
    return shapes.get(cell.sign, "·") * max(1, cell.level)


def _listed(words: Sequence[Piece], shapes: dict[str, str]) -> str:
    parts = (f"{shapes[word.sign]} {one_line(word.text)} {_score(word)}" for word in words)
    return ", ".join(parts) or "no word in particular"


def _score(word: Piece) -> str:
    """With its sign, where scores have one."""
    return signed(word.score or 0.0) if word.signed else number(word.score or 0.0)


def _cut(word: str, most: int) -> str:
    return word if cell_len(word) <= most else word[: most - 1] + "…"
