"""A kind of explanation without a renderer of its own: its plain data, one line each."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup
from rich.console import RenderableType
from rich.text import Text as Line

from assay.explanations.base import Explanation
from assay.explanations.text_explanation import TextExplanation
from assay.views.templating import render
from assay.views.visible import visible


def html(e: Explanation) -> Markup:
    return render("other.html.j2", rows=list(_own(e)))


def terminal(e: Explanation) -> RenderableType:
    return Line("\n".join(visible(f"{name}: {value}") for name, value in _own(e)))


def _own(e: Explanation) -> Iterator[tuple[str, object]]:
    """The text where it is about one, and what this kind has beyond what all kinds share."""
    if isinstance(e, TextExplanation):
        yield "text", str(e.text)
        common = TextExplanation.to_dict(e)
    else:
        common = Explanation.to_dict(e)
    yield from ((name, value) for name, value in e.to_dict().items() if name not in common)
