"""The audit as one HTML page: the answers first, then the figures, the numbers by label, and two texts to look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from assay.views import token_scores
from assay.views.say import chance
from assay.views.templating import environment
from assay.workflows.audit import figures
from assay.workflows.audit.audited import AuditedText
from assay.workflows.audit.result import AttentionAudit
from assay.workflows.audit.rows import HEAD, KEY, MOST, table

PAPER = "Jain and Wallace (2019), Attention is not Explanation, arXiv:1902.10186"


@dataclass(frozen=True)
class Figure:
    """A drawing, what it shows, and what one should see in it."""

    title: str
    drawn: figures.Histogram | figures.DotPlot
    across: str
    caption: str

    @property
    def is_histogram(self) -> bool:
        return isinstance(self.drawn, figures.Histogram)


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


def drawn(audit: AttentionAudit) -> Iterator[Figure]:
    tau, random = "Kendall’s τ", "Grey line: a random attention."
    yield Figure(
        "Attention and gradients",
        figures.taus(audit, "attention_gradient", "random_gradient"),
        tau,
        f"1: the same order of the words, 0: unrelated. {random}",
    )
    yield Figure(
        "Attention and leave-one-out", figures.taus(audit, "attention_loo", "random_loo"), tau, f"The same. {random}"
    )
    yield Figure(
        "Gradients and leave-one-out, for comparison",
        figures.taus(audit, "gradient_loo", "random_loo"),
        tau,
        f"How far two measures of importance agree that know nothing of attention. {random}",
    )
    yield Figure(
        "Shuffled attention, by its peak",
        figures.by_peak(audit, "median_tvd"),
        "median change of the answer (TVD)",
        "Dots far left in the upper rows: one word had the attention, and it did not matter which.",
    )
    yield Figure(
        "How different an attention with the same answer can be",
        figures.jsds(audit),
        "ε-max JSD",
        "The most is 0.69: then the two attentions share no word.",
    )
    yield Figure(
        "The same, by the peak of the attention",
        figures.by_peak(audit, "jsd"),
        "ε-max JSD",
        "Dots far right in the upper rows: even a clear peak could have been elsewhere.",
    )


@dataclass(frozen=True)
class Example:
    """A text under its own attention and under the other one."""

    one: AuditedText
    own: Markup
    other: Markup

    @property
    def under_own(self) -> str:
        return f"{self.one.label} {chance(self.one.prediction[self.one.label])}"


def page(audit: AttentionAudit) -> str:
    examples = [Example(o, token_scores.html(o.attention), token_scores.html(o.other)) for o in audit.examples()]
    values = {
        "audit": audit,
        "title": title(audit),
        "facts": list(facts(audit)),
        "figures": list(drawn(audit)),
        "legend": figures.legend(audit),
        "head": HEAD,
        "rows": list(table(audit)),
        "key": KEY,
        "more": max(0, len(audit.groups) - 1 - MOST),
        "examples": [e for e in examples if e.one.jsd > 0],
        "paper": PAPER,
        "space": figures,
    }
    return environment("assay.workflows.audit").get_template("audit.html.j2").render(values)
