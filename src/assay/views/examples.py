"""Examples: the training texts that pushed toward the explained label, and those that pushed away from it.

Each has its label, how strong it is, and its words; those that the explained text has too are marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.text import Text as Line

from assay.explanations.examples import Examples, TrainingText
from assay.text.text import Text
from assay.views import say
from assay.views.templating import render
from assay.views.visible import one_line, visible

_SHOWN = 5
_BAR = 8
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


def html(e: Examples) -> Markup:
    return render("examples.html.j2", text=str(e.text), sides=list(sides(e)), sentence=sentence(e), hint=hint(e))


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
                yield from _drawn(row, width, "+" if options.ascii_only else "█")
        if said := hint(self.e):
            yield Line(said.replace("Underlined words", "Words in [brackets]"), style="dim")


def _drawn(row: ShownExample, width: int, block: str) -> Iterator[Line | Padding]:
    bar = block * max(1, round(_BAR * row.share))
    head = Line.assemble(f"{row.score:>{width}} ", (bar.ljust(_BAR), "dim"), " ")
    head.append(visible(row.label), style=f"bold {_COLOURS[row.colour % len(_COLOURS)]}")
    yield head.append(f"  {row.row}", style="dim")
    text = Line()
    for part, shared in row.pieces:
        text.append(f"[{one_line(part)}]" if shared else one_line(part), style="bold" if shared else "")
    yield Padding(text, (0, 0, 0, width + 1))


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
            f"row {one.index + 1:,}",
            one.label,
            labels.index(one.label) if one.label in labels else len(labels),
            say.signed(one.score),
            abs(one.score) / strongest if strongest else 0.0,
            tuple(piece for string in _between(one.strings) for piece in marked_pieces(string, own)),
        )
        for one in side
    )


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
    """How to read the marks; nothing where no word is shared."""
    shared = any(mark for side in sides(e) for row in side.rows for _, mark in row.pieces)
    return "Underlined words are in the explained text too; very common ones are not marked." if shared else ""
