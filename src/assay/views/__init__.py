"""Views: what a person sees of an explanation and of a verdict.

    page(explanations, verdicts)    one HTML file that needs nothing else
    fragment(explanation)           the same words inside a notebook
    assay.views.descriptions        pages of what is said of a whole sample
    assay.views.terminal            the same for a terminal, with or without colour
    assay.views.plots               figures for papers

Each kind of explanation has one renderer (`kinds.RENDERERS`); everything around it is shared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.console import RenderableType

from assay.explanations.base import Explanation
from assay.explanations.explanation_list import Explanations
from assay.explanations.showable import View, shown_by
from assay.explanations.text_explanation import TextExplanation
from assay.verdicts.trust_card import TrustCard
from assay.verdicts.verdict_list import Verdicts
from assay.views import descriptions, lists, pages, terminal, trust, trust_terminal
from assay.views.lists import page
from assay.views.pages import fragment
from assay.views.plots import picture, plot
from assay.views.printing import show_here

__all__ = ["fragment", "page"]


def _register(
    kind: type, page: Callable[[Any], str], fragment: Callable[[Any], str], lines: Callable[[Any], RenderableType]
) -> None:
    def show(result: Any) -> None:
        show_here(fragment(result), lines(result))

    shown_by(kind, View(page, fragment, show, plot, picture))


_register(TextExplanation, lambda e: pages.page([e]), fragment, lambda e: terminal.explained([e]))
_register(Explanation, lambda e: descriptions.page([e]), descriptions.fragment, lambda e: descriptions.terminal([e]))
_register(TrustCard, trust.page, trust.fragment, trust_terminal.trusted)
_register(Explanations, lists.explanations_page, lists.explanations_fragment, lists.explanations_lines)
_register(Verdicts, lists.verdicts_page, lists.verdicts_fragment, lists.verdicts_lines)
