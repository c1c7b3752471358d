"""Views: what a person sees of an explanation and of a verdict.

    page(explanations, verdicts)    one HTML file that needs nothing else
    fragment(explanation)           the same words inside a notebook
    assay.views.terminal            the same for a terminal, with or without colour

Each kind of explanation has one renderer (`kinds.RENDERERS`); everything around it is shared.
"""

from __future__ import annotations

from assay.views.pages import fragment, page

__all__ = ["fragment", "page"]
