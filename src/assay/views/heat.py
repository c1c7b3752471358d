"""Words in a terminal: shaded by colour, and marked below by shape, so that the marks alone tell the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text as Line

from assay.explanations.token_scores import TokenScores
from assay.views.say import signed
from assay.views.shades import Piece, Shaded, has_signs, is_flat, shaded
from assay.views.visible import RIGHT_TO_LEFT, one_line, visible

_SHAPES = {"for": "▲", "against": "▼", "some": "●"}
_ASCII = {"for": "+", "against": "-", "some": "*"}
_COLOURS = {"for": (96, 165, 250), "against": (251, 146, 60), "some": (196, 160, 240)}
_TOP, _LONGEST = 5, 40


@dataclass(frozen=True)
class Heat:
    """The words of an explanation, wrapped to the terminal, and the strongest of them with their scores."""

    e: TokenScores
    whole: bool = True  # the text too, not only its strongest words

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        shapes = shapes_for(options)
        for field in shaded(self.e) if self.whole else ():
            yield from _field(field, options.max_width, shapes, named=len(self.e.text.fields) > 1)
        for line in _strongest(self.e, shapes):
            yield Line(line.plain.replace("−", "-")) if options.ascii_only else line


def _field(field: Shaded, width: int, shapes: dict[str, str], *, named: bool) -> Iterator[Line]:
    if named:
        yield Line(field.name if field.explained else f"{field.name} (not explained)", style="dim italic")
    yield from lines(field.pieces, width, shapes)


def shapes_for(options: ConsoleOptions) -> dict[str, str]:
    return _ASCII if options.ascii_only else _SHAPES


def lines(shown: Iterable[Piece], width: int, shapes: dict[str, str]) -> Iterator[Line]:
    """The pieces in their shades, wrapped, and below each line the marks of its words."""
    for pieces in wrapped(shown, width):
        yield Line.assemble(*((piece.text, _style(piece)) for piece in pieces), no_wrap=True, overflow="ignore")
        marks = _marks(pieces, shapes)
        # A terminal that turns right-to-left text around would put marks under other words.
        if marks and not any(RIGHT_TO_LEFT.search(piece.text) for piece in pieces):
            yield Line(marks, no_wrap=True, overflow="ignore")


def wrapped(pieces: Iterable[Piece], width: int) -> Iterator[list[Piece]]:
    """Lines of pieces that fit; a word longer than a line is cut."""
    line: list[Piece] = []
    room = width
    for piece in _cut(pieces, width):
        size = cell_len(piece.text)
        if size > room:
            yield _trimmed(line)
            line, room = [], width
        if line or piece.text.strip():
            line.append(piece)
            room -= size
    if line:
        yield _trimmed(line)


def _trimmed(line: list[Piece]) -> list[Piece]:
    """Without the blank at the end."""
    return line if line[-1].text.strip() else line[:-1]


def _cut(pieces: Iterable[Piece], width: int) -> Iterator[Piece]:
    for piece in pieces:
        text = _flat(piece)
        parts = [text] if cell_len(text) <= width else _chopped(text, width)
        yield from (replace(piece, text=part) for part in parts if part)


def _chopped(text: str, width: int) -> Iterator[str]:
    """Parts that fit into a line: a unit of several words is cut at its blanks, a word longer than a line anywhere."""
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if cell_len(longer) <= width:
            line = longer
        else:
            yield line
            *whole, line = chop_cells(word, width) or [""]
            yield from whole
    yield line


def _flat(piece: Piece) -> str:
    """One line: a gap with white space is one blank, a gap of hidden signs is none."""
    if piece.score is None and not piece.unseen and not piece.text.strip():
        return " " if piece.text else ""
    return one_line(piece.text)


def _marks(pieces: Sequence[Piece], shapes: dict[str, str]) -> str:
    """One to three marks below each word that counts, as many as fit."""
    row = ""
    for piece in pieces:
        size = cell_len(piece.text)
        row += (shapes.get(piece.sign, "") * min(piece.level, size)).ljust(size)
    return row.rstrip()


def _style(piece: Piece) -> Style:
    if piece.unseen:
        return Style(dim=True, strike=True)
    if piece.sign == "plain":
        return Style()
    tone = [round(255 + (c - 255) * (0.3 + 0.7 * piece.share)) for c in _COLOURS[piece.sign]]
    return Style.parse(f"black on rgb({tone[0]},{tone[1]},{tone[2]})")


def _strongest(e: TokenScores, shapes: dict[str, str]) -> Iterator[Line]:
    """The words with the largest scores, spelled out; none where there is nothing but zeros."""
    if is_flat(e):
        return
    order = np.argsort(-np.abs(e.scores), kind="stable").tolist()
    if not has_signs(e):
        yield from _listed(e, order, shapes["some"], "matter most, without a direction")
    else:
        yield from _listed(e, [i for i in order if e.scores[i] > 0], shapes["for"], f"for {visible(e.label)}")
        yield from _listed(e, [i for i in order if e.scores[i] < 0], shapes["against"], "against")


def _short(word: str) -> str:
    """A sentence by its beginning; words stay whole."""
    return word if len(word) <= _LONGEST or " " not in word else f"“{word[: _LONGEST - 1].rstrip()}…”"


def _listed(e: TokenScores, order: Sequence[int], shape: str, title: str) -> Iterator[Line]:
    words = (f"{_short(_flat(Piece(e.words[i], 0.0)))} {signed(e.scores[i])}" for i in order[:_TOP])
    if order:
        yield Line.assemble((f"{shape} {title}: ", "dim"), ", ".join(words))
