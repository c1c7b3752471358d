"""Examples: the training texts that pushed toward the explained label, and those that pushed away from it.

Each has its label, how strong it is, and its words: shaded by their parts in the score where these are known, else
those marked that the explained text has too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.text import Text as Line

from assay.explanations.examples import Examples, TrainingText
from assay.text.example import text_of
from assay.text.text import Text
from assay.views import say
from assay.views.heat import lines, shapes_for
from assay.views.shades import Piece
from assay.views.templating import render
from assay.views.visible import one_line, visible

_SHOWN = 5
_BAR = 8
_LITTLE, _ENOUGH = 0.01, 0.1  # shares of a score: not worth a word, and enough to shade words by
_COLOURS = ("magenta", "green", "cyan", "yellow", "red", "blue")  # of the labels, in the model's order
_FUNCTION_WORD = re.compile(r"[a-z']{1,2}|\W+|the|and|that|this|with|for|was|are|has", re.IGNORECASE)  # match anywhere


@dataclass(frozen=True)
class Side:
    """One of the two directions: its title, and its texts."""

    title: str
    sign: str
    rows: tuple[ShownExample, ...]


@dataclass(frozen=True)
class ShownExample:
    """A training text: its row, label and score, how strong it is beside the strongest, and its words."""

    row: str
    label: str
    colour: int
    score: str
    share: float
    pieces: tuple[tuple[str, bool], ...]  # a stretch of the text, and whether the explained text has that word too
    shaded: tuple[Piece, ...] = ()  # the words with their parts in the score, in the place of those


def html(e: Examples) -> Markup:
    return render(
        "examples.html.j2",
        text=str(e.text),
        sides=list(sides(e)),
        sentence=sentence(e),
        hint=hint(e),
        signed=say.signed,
    )


def terminal(e: Examples) -> ExampleLists:
    return ExampleLists(e)


@dataclass(frozen=True)
class ExampleLists:
    """Both directions, one below the other, as wide as the terminal."""

    e: Examples

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Line.assemble(("explained: ", "dim italic"), one_line(str(self.e.text)))
        yield Line(visible(sentence(self.e)))
        shown = list(sides(self.e))
        width = max((len(row.score) for side in shown for row in side.rows), default=0)
        for side in shown:
            yield Line(visible(side.title), style="bold")
            for row in side.rows:
                yield from _drawn(row, width, "+" if options.ascii_only else "█", options)
        if said := hint(self.e):
            yield Line(said.replace("Underlined words", "Words in [brackets]"), style="dim")


def _drawn(row: ShownExample, width: int, block: str, options: ConsoleOptions) -> Iterator[Line | Padding]:
    bar = block * max(1, round(_BAR * row.share))
    head = Line.assemble(f"{row.score:>{width}} ", (bar.ljust(_BAR), "dim"), " ")
    head.append(visible(row.label), style=f"bold {_COLOURS[row.colour % len(_COLOURS)]}")
    yield head.append(f"  {row.row}", style="dim")
    indent = width + 1
    shown = (replace(piece, text=one_line(piece.text)) for piece in row.shaded)
    for line in lines(shown, max(20, options.max_width - indent), shapes_for(options)):
        yield Padding(line, (0, 0, 0, indent))
    if row.shaded:
        return
    text = Line()
    for part, shared in () if row.shaded else row.pieces:
        text.append(f"[{one_line(part)}]" if shared else one_line(part), style="bold" if shared else "")
    yield Padding(text, (0, 0, 0, indent))


def sides(e: Examples) -> Iterator[Side]:
    """Toward and away, each with its strongest texts; none where nothing pushed that way."""
    strongest = max((abs(one.score) for one in e.examples), default=0.0)
    toward, away = (_rows(e, side[:_SHOWN], strongest) for side in (e.toward, e.away))
    if toward:
        yield Side(f"Pushed toward “{e.label}”", "for", toward)
    if away:
        yield Side(f"Pushed away from “{e.label}”", "against", away)


def _rows(e: Examples, side: Sequence[TrainingText], strongest: float) -> tuple[ShownExample, ...]:
    own = {word.casefold() for word in e.text.words if not _FUNCTION_WORD.fullmatch(word)}
    labels = list(e.about.labels)
    return tuple(
        ShownExample(
            f"row {one.index + 1:,}{_beside(one)}",
            one.label or "",
            labels.index(one.label) if one.label in labels else len(labels),
            say.signed(one.score),
            abs(one.score) / strongest if strongest else 0.0,
            tuple(piece for string in _between(one.strings) for piece in marked_pieces(string, own)),
            tuple(_shaded(one)),
        )
        for one in side
    )


def _split(one: TrainingText) -> Text | None:
    """The text with the words that its parts belong to; none where the words have next to nothing of the score."""
    if not one.parts or sum(map(abs, one.parts[:-1])) < _ENOUGH * abs(one.score):
        return None
    text = Text.of(text_of(one.strings))
    return text if len(text) == len(one.parts) - 1 else None


def _beside(one: TrainingText) -> str:
    """What of the score lies on no word, where that is worth saying."""
    if _split(one) is None or abs(one.parts[-1]) < _LITTLE * abs(one.score):
        return ""
    return f" · {say.signed(one.parts[-1])} on no word"


def _shaded(one: TrainingText) -> Iterator[Piece]:
    text = _split(one)
    if text is None:
        return
    parts, strongest = iter(one.parts[:-1]), max(map(abs, one.parts[:-1]))
    for i, field in enumerate(text.fields):
        yield Piece(" | " if i else "")
        for gap, word, part in zip(field.gaps, field.words, parts, strict=False):
            yield Piece(gap)
            yield Piece(word, part, abs(part) / strongest if strongest else 0.0)
        yield Piece(field.string[field.spans[-1][1] if field.spans else 0 :])


def _between(strings: Sequence[str]) -> Iterator[str]:
    """The strings of a pair with a bar between them."""
    for i, string in enumerate(strings):
        yield f" | {string}" if i else string


def marked_pieces(string: str, own: set[str]) -> Iterator[tuple[str, bool]]:
    """The words and what stands between them; neighbours of the same kind are joined."""
    at = 0
    for start, end in Text.of(string).spans if string.strip() else ():
        if string[start:end].casefold() in own:
            if start > at:
                yield string[at:start], False
            yield string[start:end], True
            at = end
    if at < len(string):
        yield string[at:], False


def sentence(e: Examples) -> str:
    """What is listed, out of how many."""
    toward, away = int((e.scores > 0).sum()), int((e.scores < 0).sum())
    if not toward + away:
        return f"None of the {e.train.size:,} training texts pushed the prediction either way."
    many = say.counted(e.train.size, "training text")
    return f"Of {many}, {toward:,} pushed toward “{e.label}” and {away:,} away from it; the strongest are listed."


def hint(e: Examples) -> str:
    """How to read the marks; nothing where there are none."""
    rows = [row for side in sides(e) for row in side.rows]
    said = []
    if any(row.shaded for row in rows):
        said.append("Shaded words: how much of the score the gradient has at each word of the training text.")
    if any(mark for row in rows if not row.shaded for _, mark in row.pieces):
        said.append("Underlined words are in the explained text too; very common ones are not marked.")
    return " ".join(said)
