"""Views: what a person sees of an explanation and of a verdict.

    page(explanations, verdicts)    one HTML file that needs nothing else
    fragment(explanation)           the same words inside a notebook
    assay.views.terminal            the same for a terminal, with or without colour

Each kind of explanation has one renderer (`kinds.RENDERERS`); everything around it is shared.
"""

from __future__ import annotations

from assay.explanations.base import Explanation
from assay.explanations.showable import shown_by
from assay.verdicts.trust_card import TrustCard
from assay.views import trust
from assay.views.pages import fragment, page

__all__ = ["fragment", "page"]

shown_by(Explanation, page=lambda e: page([e]), fragment=fragment)
shown_by(TrustCard, page=trust.page, fragment=trust.fragment)
