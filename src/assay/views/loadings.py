"""Loadings: the words of each dimension, after the rotation and before it."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup
from rich.console import Group, RenderableType
from rich.text import Text as Line

from assay.explanations.loadings import Loadings
from assay.views import say
from assay.views.templating import render
from assay.views.visible import visible

_TOP = 6  # words of a dimension
_SHOWN = 10  # dimensions in a terminal


def html(e: Loadings) -> Markup:
    rows = [(i + 1, e.top(i, _TOP), e.top(i, _TOP, before=True)) for i in range(e.loadings.shape[1])]
    return render("loadings.html.j2", sentences=list(sentences(e)), rows=rows)


def heading(e: Loadings) -> str:
    """The question that is answered."""
    return "Which words make up each dimension?"


def terminal(e: Loadings) -> RenderableType:
    shown = range(min(_SHOWN, e.loadings.shape[1]))
    return Group(
        *(Line(visible(line)) for line in sentences(e)),
        Line(),
        Line("After the rotation", style="bold"),
        *(_dimension(e, i, before=False) for i in shown),
        *_more(e),
        Line(),
        Line("Before it", style="bold"),
        *(_dimension(e, i, before=True) for i in shown),
        *_more(e),
    )


def _more(e: Loadings) -> Iterator[Line]:
    if (left := e.loadings.shape[1] - _SHOWN) > 0:
        yield Line(f"    and {say.counted(left, 'dimension')} more", style="dim")


def _dimension(e: Loadings, i: int, *, before: bool) -> Line:
    return Line.assemble((f"{i + 1:>3} ", "dim"), visible(" · ".join(e.top(i, _TOP, before=before))))


def sentences(e: Loadings) -> Iterator[str]:
    """What was rotated, and how much simpler it became."""
    words, size = say.counted(len(e.words), "word"), say.counted(e.loadings.shape[1], "dimension")
    yield f"{words} in {size}{_kept(e)}; the words with the most of each."
    before, after = (e.facts.get(f"complexity_{when}") for when in ("before", "after"))
    if before:
        yield f"The rotation takes {1 - after / before:.0%} off the complexity of the loadings and changes no distance."


def _kept(e: Loadings) -> str:
    share = e.facts.get("variance_kept", 1.0)
    return "" if share >= 1 else f", principal components that hold {share:.0%} of the variance"
