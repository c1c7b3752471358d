"""TokenRule: the text with the words of the rule marked, and the rule in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from markupsafe import Markup
from rich.console import Group, RenderableType
from rich.text import Text as Line

from assay.explanations.token_rule import TokenRule
from assay.explanations.token_scores import TokenScores
from assay.views.shades import Piece, Shaded, shaded
from assay.views.templating import render
from assay.views.visible import one_line, visible

_ANCHOR = "bold black on rgb(96,165,250)"


def html(e: TokenRule) -> Markup:
    return render("token_rule.html.j2", fields=marked(e), named=len(e.text.fields) > 1, sentences=list(sentences(e)))


def terminal(e: TokenRule) -> RenderableType:
    """Words of the rule in brackets: readable without colour, and in any direction of writing."""
    lines = [line for field in marked(e) for line in _field(field, named=len(e.text.fields) > 1)]
    return Group(*lines, *(Line(visible(said)) for said in sentences(e)))


def marked(e: TokenRule) -> list[Shaded]:
    """The words of the rule as words that speak for the label, the others as words that say nothing."""
    scores = np.zeros(len(e.text))
    scores[list(e.anchor)] = 1
    return shaded(TokenScores(e.case, scores, unseen=e.unseen, given=e.given))


def sentences(e: TokenRule) -> Iterator[str]:
    """What the rule says, and how far it reaches."""
    low, high = e.interval
    hits = f"{_percent(e.precision)} of {e.samples:,} samples"
    if e.anchor:
        verb = "stays" if len(e.anchor) == 1 else "stay"
        yield f"While {_listed(e)} {verb}, the model says “{e.label}”: in {hits}."
    else:
        yield f"No word is needed: the model says “{e.label}” in {hits}, whatever becomes of the words."
    yield f"Precision between {_percent(low)} and {_percent(high)}.{_coverage(e)}"


def _coverage(e: TokenRule) -> str:
    if e.coverage is None:
        return ""
    texts = "the texts in the corpus" if e.facts.get("coverage_of") == "corpus" else "random samples of this text"
    return f" The rule applies to {_percent(e.coverage)} of {texts}."


def _listed(e: TokenRule) -> str:
    *most, last = (f"“{one_line(word)}”" for word in e.anchor_words)
    return f"{', '.join(most)} and {last}" if most else last


def _percent(share: float) -> str:
    """Never all or nothing for what is only close to it."""
    shown = f"{share:.1%}" if 0 < share < 1 else f"{share:.0%}"
    return {"100.0%": ">99.9%", "0.0%": "<0.1%"}.get(shown, shown)


def _field(field: Shaded, *, named: bool) -> Iterator[Line]:
    if named:
        yield Line(field.name if field.explained else f"{field.name} (not explained)", style="dim italic")
    yield Line.assemble(*map(_styled, field.pieces))


def _styled(piece: Piece) -> tuple[str, str]:
    text = one_line(piece.text)
    if piece.unseen:
        return text, "dim strike"
    return (f"[{text}]", _ANCHOR) if piece.sign == "for" else (text, "")
