"""TokenScores: the words with their shades and marks."""

from __future__ import annotations

from markupsafe import Markup
from rich.console import RenderableType

from assay.explanations.token_scores import TokenScores
from assay.views.heat import Heat
from assay.views.say import signed
from assay.views.score_table import scored_words
from assay.views.shades import shaded
from assay.views.templating import render


def html(e: TokenScores) -> Markup:
    named = len(e.text.fields) > 1
    return render("token_scores.html.j2", fields=shaded(e), named=named, signed=signed, scored=scored_words(e))


def terminal(e: TokenScores) -> RenderableType:
    return Heat(e)
