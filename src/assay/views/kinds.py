"""One renderer per kind of explanation, found by the kind: a new kind is one line here and one file beside this one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from markupsafe import Markup
from rich.console import RenderableType

from assay.explanations.base import Explanation
from assay.views import (
    behavior,
    edits,
    effects,
    examples,
    loadings,
    other,
    probe_scores,
    projection,
    rationale,
    rules,
    selection,
    token_matrix,
    token_rule,
    token_scores,
    triggers,
)
from assay.views.say import method_title


class Renderer(NamedTuple):
    """How a kind of explanation looks on a page and in a terminal."""

    html: Callable[[Any], Markup]
    terminal: Callable[[Any], RenderableType]
    heading: Callable[[Any], str] = method_title  # of a description, which answers a question of its own


RENDERERS: dict[str, Renderer] = {
    "TokenScores": Renderer(token_scores.html, token_scores.terminal),
    "TokenMatrix": Renderer(token_matrix.html, token_matrix.terminal),
    "TokenRule": Renderer(token_rule.html, token_rule.terminal),
    "Edits": Renderer(edits.html, edits.terminal),
    "Loadings": Renderer(loadings.html, loadings.terminal, loadings.heading),
    "ProbeScores": Renderer(probe_scores.html, probe_scores.terminal, probe_scores.heading),
    "Projection": Renderer(projection.html, projection.terminal, projection.heading),
    "Behavior": Renderer(behavior.html, behavior.terminal, behavior.heading),
    "Effects": Renderer(effects.html, effects.terminal, effects.heading),
    "Rules": Renderer(rules.html, rules.terminal, rules.heading),
    "Examples": Renderer(examples.html, examples.terminal),
    "Rationale": Renderer(rationale.html, rationale.terminal),
    "Triggers": Renderer(triggers.html, triggers.terminal, triggers.heading),
    "Selection": Renderer(selection.html, selection.terminal, selection.heading),
}


def renderer(e: Explanation) -> Renderer:
    """The renderer of this kind; a kind that nobody drew yet is shown as its plain data."""
    return RENDERERS.get(e.kind, Renderer(other.html, other.terminal))
