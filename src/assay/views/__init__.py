"""Views: what a person sees of an explanation and of a verdict.

    page(explanations, verdicts)    one HTML file that needs nothing else
    fragment(explanation)           the same words inside a notebook
    assay.views.descriptions        pages of what is said of a whole sample
    assay.views.terminal            the same for a terminal, with or without colour

Each kind of explanation has one renderer (`kinds.RENDERERS`); everything around it is shared.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.explanations.base import Explanation
from assay.explanations.showable import shown_by
from assay.explanations.text_explanation import TextExplanation
from assay.statistics.verdict import Verdict
from assay.verdicts.trust_card import TrustCard
from assay.views import descriptions, pages, trust
from assay.views.pages import fragment

__all__ = ["fragment", "page"]


def page(explanations: Sequence[Explanation], verdicts: Sequence[Verdict] = ()) -> str:
    """One HTML file: explanations of texts, or descriptions of a sample, and what the checks found of them."""
    texts = [e for e in explanations if isinstance(e, TextExplanation)]
    if len(texts) == len(explanations):
        return pages.page(texts, verdicts)
    return descriptions.page(explanations, verdicts)


shown_by(TextExplanation, page=lambda e: pages.page([e]), fragment=fragment)
shown_by(Explanation, page=lambda e: descriptions.page([e]), fragment=descriptions.fragment)
shown_by(TrustCard, page=trust.page, fragment=trust.fragment)
