"""The audit as one HTML page: the answers first, then the figures, the numbers by label, and two texts to look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from assay.views import charts, token_scores
from assay.views.say import chance
from assay.views.templating import environment
from assay.workflows.audit.audited import AuditedText
from assay.workflows.audit.figures import figures, legend
from assay.workflows.audit.result import AttentionAudit
from assay.workflows.audit.rows import HEAD, KEY, MOST, table

PAPER = "Jain and Wallace (2019), Attention is not Explanation, arXiv:1902.10186"


def title(audit: AttentionAudit) -> str:
    return f"May the attention of {audit.model} be read as an explanation?"


def facts(audit: AttentionAudit) -> Iterator[tuple[str, str]]:
    own = audit.settings
    head = "the mean of its heads, if it has several" if own["head"] is None else f"head {own['head']}"
    layer = "last layer" if own["layer"] == -1 else f"layer {own['layer']}"
    yield (
        "texts",
        f"{len(audit):,}" + (f", {audit.accuracy:.1%} predicted as labelled" if audit.accuracy is not None else ""),
    )
    yield "attention", f"{layer}, {head}"
    yield "permutations", f"{own['permutations']} of each text"
    yield "adversaries", f"{own['k']} of each text, {own['steps']} steps, ε = {own['epsilon']:g}"
    yield "seed", str(own["seed"])
    yield "made by", ", ".join(f"{name} {version}" for name, version in audit.texts[0].about.versions.items())


@dataclass(frozen=True)
class Comparison:
    """A text under its own attention and under the other one."""

    one: AuditedText
    own: Markup
    other: Markup

    @property
    def under_own(self) -> str:
        return chance(self.one.prediction[self.one.label])


def page(audit: AttentionAudit) -> str:
    examples = [Comparison(o, token_scores.html(o.attention), token_scores.html(o.other)) for o in audit.examples()]
    values = {
        "audit": audit,
        "title": title(audit),
        "facts": list(facts(audit)),
        "figures": list(figures(audit)) if charts.can_draw() else [],
        "missing": charts.MISSING,
        "legend": legend(audit),
        "head": HEAD,
        "rows": list(table(audit)),
        "key": KEY,
        "more": max(0, len(audit.groups) - 1 - MOST),
        "examples": [e for e in examples if e.one.jsd > 0],
        "paper": PAPER,
    }
    return environment("assay.workflows.audit").get_template("audit.html.j2").render(values)
