"""What a method says of a whole sample, on a page, in a notebook and in a terminal: the frame around each kind.

Explanations of single texts have a frame of their own (`pages`), since they share the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from rich.console import Group, RenderableType
from rich.text import Text as Line

from assay.explanations.base import Explanation
from assay.explanations.sample_explanation import SampleExplanation
from assay.statistics.verdict import Verdict
from assay.views import proof, say
from assay.views.kinds import renderer
from assay.views.scatter import SOURCE
from assay.views.templating import render
from assay.views.terminal import warning_line
from assay.views.visible import visible


@dataclass(frozen=True)
class Description:
    """One description, with what the checks found of it."""

    e: Explanation
    heading: str
    origin: list[str]
    body: Markup
    proofs: tuple[proof.Proof, ...]
    cautions: list[str]
    tag: tuple[str, bool] | None


def page(descriptions: Sequence[Explanation], verdicts: Sequence[Verdict] = ()) -> str:
    """One HTML file: each description, and the proof beside it."""
    shown = [_described(e, verdicts) for e in descriptions]
    title = shown[0].heading if len(shown) == 1 else f"{len(shown)} descriptions of a model"
    return str(render("descriptions.html.j2", descriptions=shown, title=title, say=say, script_source=SOURCE))


def fragment(e: Explanation) -> str:
    """The description for a notebook, in whatever colours the notebook has."""
    return str(render("description_fragment.html.j2", d=_described(e, ()), say=say))


def terminal(descriptions: Sequence[Explanation]) -> RenderableType:
    """The descriptions one below the other."""
    return Group(*(part for e in descriptions for part in _lines(e)))


def _lines(e: Explanation) -> list[RenderableType]:
    head = [Line(visible(renderer(e).heading(e)), style="bold"), Line(visible(" · ".join(_origin(e))), style="dim")]
    return [*head, renderer(e).terminal(e), *map(warning_line, e.warnings)]


def _described(e: Explanation, verdicts: Sequence[Verdict]) -> Description:
    mine = [v for v in verdicts if v.about(e.about.method, e.about.parameters)]
    cautions = proof.cautions(mine, e.warnings)
    proofs = tuple(map(proof.proof, mine))
    heading, body = renderer(e).heading(e), renderer(e).html(e)
    return Description(e, heading, _origin(e), body, proofs, cautions, proof.tag(mine))


def _origin(e: Explanation) -> list[str]:
    """The method, the model, the texts, and how they were described."""
    parts = [say.method_title(e), *([f"model {e.about.model}"] if e.about.model else [])]
    if isinstance(e, SampleExplanation):
        parts += [f"{say.counted(e.sample.size, 'text')} of {e.sample.name}"] if e.sample.size else []
    return [*parts, *say.settings(e), f"seed {e.about.seed}"]
