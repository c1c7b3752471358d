"""Edits: one line per step, with how sure the model is, the words that are left, and the word that goes next.

As Figures 5 and 6 of Feng et al. (2018), arXiv:1804.07781: the words are shaded by what each counts at that step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from markupsafe import Markup
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text as Line

from assay.explanations.case import Case
from assay.explanations.edits import Edit, Edits
from assay.explanations.token_scores import TokenScores
from assay.views import say, versions
from assay.views.heat import lines, shapes_for
from assay.views.shades import Piece, shaded
from assay.views.templating import render
from assay.views.visible import one_line, visible

_MARGIN = 14
_OTHERS = 5


@dataclass(frozen=True)
class EditStep:
    """One version: how sure the model is, its pieces, which of them goes next, and how alike the next map is."""

    chance: str
    pieces: tuple[Piece, ...]
    next: int | None
    tau: str


def html(e: Edits) -> Markup:
    if e.form == "versions":
        return versions.html(e)
    return render("edits.html.j2", steps=list(steps(e)), sentences=list(sentences(e)), hint=hint(e), signed=say.signed)


def terminal(e: Edits) -> EditPath | versions.VersionList:
    return versions.terminal(e) if e.form == "versions" else EditPath(e)


@dataclass(frozen=True)
class EditPath:
    """The steps, one below the other, as wide as the terminal."""

    e: Edits

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for name, string in say.asides(self.e):
            yield Line.assemble((f"{name}: ", "dim italic"), one_line(string))
        first, *more = map(Line, map(visible, sentences(self.e)))
        yield first
        for step in steps(self.e):
            yield from _drawn(step, max(8, options.max_width - _MARGIN), shapes_for(options))
        yield from more
        if legend := hint(self.e):
            yield Line(legend.replace("underlined word", "[word]").replace("τ", "tau"), style="dim")


def _drawn(step: EditStep, width: int, shapes: dict[str, str]) -> Iterator[Line]:
    """The margin before the first line, and as much room before the others."""
    margin = f"{step.chance:>5} {step.tau:>6}  "
    for line in lines(_bracketed(step), width, shapes):
        yield Line.assemble((margin, "dim"), line, no_wrap=True, overflow="ignore")
        margin = " " * _MARGIN


def _bracketed(step: EditStep) -> Iterator[Piece]:
    """The word that goes next stands in brackets: readable without colour, and in any direction of writing."""
    for i, piece in enumerate(step.pieces):
        yield replace(piece, text=f"[{piece.text}]") if i == step.next else piece


def steps(e: Edits) -> Iterator[EditStep]:
    """Every edit; the last one has no next word."""
    taus = [*e.facts.get("kendall", ()), *[None] * len(e.edits)]
    maps = [*e.facts.get("heat_maps", ()), *[None] * len(e.edits)]
    following = [*e.edits[1:], None]
    for edit, after, tau, heat in zip(e.edits, following, taus, maps, strict=False):
        pieces = tuple(_pieces(e, edit, heat))
        gone = after.operations[-1][1] if after else None
        words = [i for i, piece in enumerate(pieces) if piece.score is not None]
        places = dict(zip(edit.kept, words, strict=False))
        yield EditStep(_chance(e, edit), pieces, places.get(gone) if gone is not None else None, _tau(tau))


def _pieces(e: Edits, edit: Edit, heat: list[float] | None) -> Iterator[Piece]:
    """The words that are left, shaded; a version that is more than a part of the text is shown as it is."""
    if any(kind != "remove" for kind, *_ in edit.operations):
        yield Piece(edit.text)
        return
    text = e.text.keep(np.isin(np.arange(len(e.text)), edit.kept))
    scores = np.zeros(len(text)) if heat is None else np.array(heat)
    for field, shown in zip(text.fields, shaded(TokenScores(Case(text, 0), scores, facts=e.facts)), strict=True):
        if field.name in text.focus or field.part in ("first", "middle", "last"):
            yield from shown.pieces


def sentences(e: Edits) -> Iterator[str]:
    """What the way says, and which other versions end it."""
    first, last = e.edits[0], e.edits[-1]
    if len(e.edits) == 1:
        yield _nothing(e)
    elif e.shortest:
        before, after = len(first.kept), len(last.kept)
        reduced = f"{say.counted(before, 'word')} reduced to {after:,}: the model still says “{e.label}”"
        yield f"{reduced}, with {_chance(e, last)} instead of {_chance(e, first)}."
    else:
        many = say.counted(len(e.edits) - 1, "edit")
        yield f"{many}: “{e.label}” goes from {_chance(e, first)} to {_chance(e, last)}."
    if others := [f"“{one_line(edit.text)}”" for edit in e.shortest[1:]]:
        more = f" and {len(others) - _OTHERS:,} more" if len(others) > _OTHERS else ""
        yield f"Just as short: {', '.join(others[:_OTHERS])}{more}."


def _nothing(e: Edits) -> str:
    if len(e.edits[0].kept) == 1:
        return "One word is all there is: nothing can be taken away."
    sure = e.about.parameters.get("at_least") or 0.0
    less = f", or is less sure than {sure:g}" if sure else ""
    return f"No word can go: without any of the least important ones the model says something else{less}."


def hint(e: Edits) -> str:
    """How to read the lines; nothing where there is but one."""
    if not any(e.facts.get("heat_maps", ())) or len(e.edits) < 2:
        return ""
    return (
        "Each line: how sure the model is; τ, how alike this line and the next order the words that stay "
        "(1 the same, −1 reversed); and the words, shaded by what each counts there. The underlined word goes next."
    )


def _chance(e: Edits, edit: Edit) -> str:
    return say.chance(list(edit.prediction.values())[e.target])


def _tau(value: float | None) -> str:
    return "" if value is None else f"{value:+.2f}".replace("-", "−")
