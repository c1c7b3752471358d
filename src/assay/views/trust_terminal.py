"""The trust card in a terminal: the same order as on the page, readable with and without colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text as Line

from assay.statistics.verdict import Verdict
from assay.verdicts.standing import Level, Standing, title_of
from assay.verdicts.trust_card import TrustCard
from assay.views import rationale, say
from assay.views.heat import Heat
from assay.views.score_table import ScoreTable
from assay.views.strip import LEFT, RIGHT, strip
from assay.views.terminal import prediction_line, warning_line
from assay.views.trust import ABOUT, brief, heading, inside_title, mark, place, reasons_note, tag, unsure_first
from assay.views.visible import visible
from assay.views.wide import grid

_COLOURS: dict[Level, str] = {"yes": "green", "partly": "bold", "no": "yellow", "open": "dim"}
_WIDTH, _NARROW = 24, 8
_BLOCKS, _ASCII_BLOCKS = " ▁▂▃▄▅▆▇█", " .:-=+*%#"
_POINTS = {"passed": "●", "failed": "○", "worse": "○", "silent": "·"}
_ASCII_POINTS = {"passed": "O", "failed": "o", "worse": "o", "silent": "."}
_TEXTS = 3


def trusted(card: TrustCard, *, table: bool = False) -> RenderableType:
    """One page: the prediction, the answer, every method with its words and its proof, how far they agree."""
    return Group(*_head(card), *_methods(card, table), *_inside(card, table), *_reasons(card), *_foot(card))


def headline(card: TrustCard) -> RenderableType:
    """The prediction and the answer alone."""
    return Group(*_head(card))


def _head(card: TrustCard) -> Iterator[RenderableType]:
    yield Line(visible(heading(card)), style="bold")
    if card.texts == 1:
        yield prediction_line(card.first)
    yield Line()
    yield Line(visible(card.summary), style=_COLOURS[card.ordered[0].level])
    yield from (warning_line(note) for note in card.notes)
    if card.how:
        yield Line(visible(card.how))
    yield Line(ABOUT, style="dim")


def _methods(card: TrustCard, table: bool) -> Iterator[RenderableType]:
    for standing in card.ordered:
        yield from _method(card, standing, table)


def _inside(card: TrustCard, table: bool) -> Iterator[RenderableType]:
    """Of a long text, the words of its strongest parts."""
    if card.inside is None:
        return
    yield Line()
    yield Line(inside_title(card), style="bold")
    yield Line(visible(card.inside.summary), style=_COLOURS[card.inside.ordered[0].level])
    yield from (warning_line(note) for note in card.inside.notes if note not in card.notes)
    yield from _methods(card.inside, table)


def _reasons(card: TrustCard) -> Iterator[RenderableType]:
    """What a writer says for the answer, and for others."""
    if card.reason is not None:
        yield Line()
        yield Line("Reasons in words, not tested", style="bold")
        yield rationale.terminal(card.reason)
        yield warning_line(reasons_note(card))


def _method(card: TrustCard, standing: Standing, table: bool) -> Iterator[RenderableType]:
    sign, words = tag(standing)
    yield Line()
    settings = " · ".join(map(visible, brief(standing)))
    level = (f"{sign} {words}", _COLOURS[standing.level])
    yield Line.assemble((visible(standing.title), "bold"), "  ", level, (f"  {settings}", "dim"))
    if card.texts == 1:
        yield Heat(standing.first, whole=not card.how or standing is card.ordered[0])
        yield from [ScoreTable(standing.first)] if table else []
    yield Line(visible(standing.sentence), style=_COLOURS[standing.level])
    yield Strips([*standing.tests, *standing.besides])
    yield from (warning_line(said) for said in card.cautions(standing))


@dataclass(frozen=True)
class Strips:
    """Each test in a line: random maps as a small histogram, the method among them, better on the right."""

    verdicts: Sequence[Verdict]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table.grid(padding=(0, 2, 0, 0))
        for _ in range(3):
            table.add_column(no_wrap=True, overflow="fold")
        width = max(_NARROW, min(_WIDTH, options.max_width - 40))
        for v in self.verdicts:
            style = "" if mark(v) == "passed" else "dim"
            bar = drawn(v, width, ascii_only=options.ascii_only)
            table.add_row(
                Line(f"  {title_of(v)}", style=style), Line(bar), Line(_said(v, options.ascii_only), style=style)
            )
        yield table


def drawn(v: Verdict, width: int = _WIDTH, *, ascii_only: bool = False) -> str:
    """The strip as signs."""
    blocks, points = (_ASCII_BLOCKS, _ASCII_POINTS) if ascii_only else (_BLOCKS, _POINTS)
    places = strip(v)
    counts = [0] * width
    for x, _ in places.dots:
        counts[_column(x, width)] += 1
    most = max(counts) or 1
    signs = [blocks[-(-count * (len(blocks) - 1) // most)] for count in counts]
    signs[_column(places.own, width)] = points[mark(v)]
    return "".join(signs)


def _column(x: float, width: int) -> int:
    return min(width - 1, int((x - LEFT) / (RIGHT - LEFT) * width))


def _said(v: Verdict, ascii_only: bool) -> str:
    return place(v).replace("−", "-") if ascii_only else place(v)


def _foot(card: TrustCard) -> Iterator[RenderableType]:
    if len(card.standings) > 1:
        yield Line()
        yield Line("Do the methods agree?", style="bold")
        yield Line(visible(card.accord))
        yield _taus(card)
    if card.texts > 1:
        yield from _texts(card)
    whose = "of this text" if card.texts == 1 else "of the same texts; numbers: how much better, with the 95 % interval"
    yield Line(f"● the method, ○ where it is not better, right is better; bars: random maps {whose}.", style="dim")
    if card.left_out:
        yield Line(f"Left out: {', '.join(card.left_out)}; --html and --json say why.", style="dim")


def _taus(card: TrustCard) -> RenderableType:
    """Kendall's tau; methods are numbered where their names would not fit."""
    names = [visible(standing.title) for standing in card.standings]
    numbers = [str(i) for i in range(1, len(names) + 1)]
    table = grid("Kendall's τ", *numbers, right=tuple(numbers))
    for i, name in enumerate(names):
        cells = ("" if i == j else _tau(card.agreement.tau[i, j]) for j in range(len(names)))
        table.add_row(f"{numbers[i]} {name}", *cells)
    return table


def _tau(value: float) -> str:
    return "–" if value != value else f"{value:.2f}".replace("-", "−")


def _texts(card: TrustCard) -> Iterator[RenderableType]:
    """The texts of which the model is least sure, with the words of the method that does best."""
    best = card.ordered[0]
    yield Line(f"The texts the model is least sure of, by {best.title}", style="bold")
    for i in unsure_first(card)[:_TEXTS]:
        e = best.explanations[i]
        yield Line()
        yield prediction_line(e)
        yield Heat(e)
    if card.texts > _TEXTS:
        yield Line(f"{say.counted(card.texts - _TEXTS, 'more text')}: see --html.", style="dim")
