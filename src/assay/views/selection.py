"""Selection: what the chosen texts cover, the texts with their words shaded, and what each adds to those before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text as Line

from assay.explanations.selection import Selection
from assay.explanations.token_scores import TokenScores
from assay.views import say, token_scores
from assay.views.shades import FAINT, has_signs
from assay.views.templating import render
from assay.views.visible import visible

_NEW = 8  # words that a text adds, spelled out
_TOP = 10  # most important words of the sample
_BAR = 24
_IMPORTANCE = "Importance: the root of the summed sizes of a word's scores over all texts."


@dataclass(frozen=True)
class Pick:
    """One chosen text: its row, what it adds, its words, and its explanation where there is one."""

    row: int
    gain: float
    new: tuple[str, ...]
    label: str
    chance: str
    body: Markup
    e: TokenScores | None


@dataclass(frozen=True)
class ShownWord:
    """One of the most important words of the sample, and which pick shows it first (0: none)."""

    word: str
    importance: float
    share: float
    pick: int


def html(e: Selection) -> Markup:
    shown = list(picks(e))
    key = {"signs": {has_signs(one) for one in e.maps}, "faint": f"{FAINT:.0%}"}
    values = {"sentence": sentence(e), "picks": shown, "words": words(e), "key": key, "importance": _IMPORTANCE}
    return render("selection.html.j2", percent=percent, **values)


def heading(e: Selection) -> str:
    """The question that is answered."""
    return "Which texts show best what the model does?"


def terminal(e: Selection) -> RenderableType:
    return Picks(e)


@dataclass(frozen=True)
class Picks:
    """The chosen texts one below the other, then the words that matter most."""

    e: Selection

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Line(sentence(self.e))
        for k, pick in enumerate(picks(self.e), start=1):
            yield Line()
            head = f"{k}. row {pick.row:,}  adds {percent(pick.gain)}"
            yield Line.assemble((head, "bold"), (f"  {visible(pick.label)} {pick.chance}", "dim"))
            if pick.e is not None:
                yield token_scores.terminal(pick.e)
            yield Line.assemble(("new: ", "dim"), visible(" · ".join(pick.new)) or "nothing")
        yield from _word_lines(self.e, options.ascii_only)


def _word_lines(e: Selection, ascii_only: bool) -> Iterator[Line]:
    """The most important words as bars, with the pick that shows each."""
    shown = words(e)
    if not shown:
        return
    yield Line()
    yield Line(
        f"The {say.counted(len(shown), 'word')} that matter most over all texts, and the pick that shows each",
        style="bold",
    )
    width = min(20, max(cell_len(visible(word.word)) for word in shown))
    for word in shown:
        name = visible(word.word)
        bar = ("=" if ascii_only else "━") * max(1, round(_BAR * word.share))
        where = f"pick {word.pick}" if word.pick else "none"
        yield Line.assemble(
            name + " " * max(0, width - cell_len(name)),
            f" {say.number(word.importance):>6} ",
            (bar.ljust(_BAR), "blue" if word.pick else "dim"),
            f" {where}",
        )
    yield Line(_IMPORTANCE, style="dim")


def sentence(e: Selection) -> str:
    """What the choice comes to."""
    texts = f"{len(e.chosen)} of {say.counted(len(e.rows), 'text')}"
    words = f"{len(e.covered_words):,} of {say.counted(len(e.words), 'word')}"
    return f"{texts} show {words}: {percent(e.covered)} of all importance."


def picks(e: Selection) -> Iterator[Pick]:
    maps = e.maps or (None,) * len(e.chosen)
    for i, gain, added, one in zip(e.chosen, e.gains, e.new_words, maps, strict=True):
        body = token_scores.html(one) if one is not None else Markup()
        label, chance = _label(one)
        yield Pick(i + 1, gain, tuple(_new(e, added)), label, chance, body, one)


def words(e: Selection) -> list[ShownWord]:
    """The most important words, whether they are covered or not."""
    first = {word: k for k, added in enumerate(e.new_words, start=1) for word in added}
    order = sorted(range(len(e.words)), key=lambda word: (-e.importance[word], word))[:_TOP]
    most = float(e.importance.max(initial=0.0)) or 1.0
    return [
        ShownWord(e.words[j], float(e.importance[j]), float(e.importance[j]) / most, first.get(j, 0)) for j in order
    ]


def percent(share: float) -> str:
    """Never all or nothing for what is only close to it."""
    shown = f"{share:.0%}" if share in (0, 1) or share >= 0.0995 else f"{share:.1%}"
    return {"100%": ">99%", "0.0%": "<0.1%"}.get(shown, shown) if 0 < share < 1 else shown


def _new(e: Selection, added: tuple[int, ...]) -> Iterator[str]:
    yield from (e.words[word] for word in added[:_NEW])
    if len(added) > _NEW:
        yield f"{len(added) - _NEW:,} more"


def _label(e: TokenScores | None) -> tuple[str, str]:
    """The label that the explanation is about, and how likely the model finds it."""
    if e is None:
        return "", ""
    return e.label, say.chance(e.prediction[e.label]) if e.label in e.prediction else ""
