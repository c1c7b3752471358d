"""The audit of a model in HTML, as a page and in a notebook: the answer first, then each question and its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from assay.progress import lasting
from assay.views.kinds import renderer
from assay.views.templating import environment
from assay.workflows.model_audit.part import AuditPart
from assay.workflows.model_audit.result import ModelAudit

_WORDS = ("identity", "attacks", "explanations", "pathologies")  # whose cells are words, not numbers


@dataclass(frozen=True)
class ShownPart:
    """A part with the descriptions that it rests on, ready to be put on the page."""

    part: AuditPart
    details: tuple[tuple[str, Markup], ...]
    words: bool
    level: str


def page(audit: ModelAudit) -> str:
    return _rendered(audit, "model_audit.html.j2")


def fragment(audit: ModelAudit) -> str:
    """The answers for a notebook, each with its numbers below it, without the descriptions that they rest on."""
    return _rendered(audit, "model_audit_fragment.html.j2")


def _rendered(audit: ModelAudit, template: str) -> str:
    values = {
        "audit": audit,
        "title": audit.overall.question,
        "facts": list(_facts(audit)),
        "parts": [_shown(part) for part in audit.parts if part.asked],
    }
    return environment("assay.workflows.model_audit").get_template(template).render(values)


def _shown(part: AuditPart) -> ShownPart:
    headings = part.titles or [renderer(e).heading(e) for e in part.described]
    details = tuple(zip(headings, (renderer(e).html(e) for e in part.described), strict=True))
    level = "speaks-against" if part.bad else "speaks-for" if part.good else ""
    return ShownPart(part, details, part.name in _WORDS, level)


def _facts(audit: ModelAudit) -> Iterator[tuple[str, str]]:
    own = audit.settings
    yield "model", audit.model
    yield "texts", audit.sample
    if own.get("weights"):
        yield "weights", str(own["weights"])[:16]
    if "quick" in own:
        yield "how", f"{'quick' if own['quick'] else 'full'}, seed {own['seed']}, {lasting(audit.seconds)}"
    yield "made by", ", ".join(f"{name} {version}" for name, version in own.get("versions", {}).items())
