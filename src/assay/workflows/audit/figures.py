"""The figures of the page, texts coloured by their predicted label.

They are the paper's Figures 2 (tau), 3 (permutation by the largest weight), 4 (JSD) and 5 (JSD by the largest weight).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from markupsafe import Markup

from assay.statistics.arrays import Floats
from assay.views import charts
from assay.views.charts import Scale
from assay.workflows.audit.audited import AuditedText
from assay.workflows.audit.result import AttentionAudit
from assay.workflows.audit.summary import column, labels

OTHERS = "other labels"
_TAU = Scale("Kendall’s τ", -1.0, 1.0, (-1.0, -0.5, 0.0, 0.5, 1.0))
_JSD = Scale("ε-max JSD", 0.0, log(2), (0.0, 0.2, 0.4, 0.6))
_TVD = Scale("median change of the answer (TVD)", 0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))
_RANDOM = "Grey line: a random attention."


@dataclass(frozen=True)
class Figure:
    """A drawing, what it shows, and what one should see in it."""

    title: str
    caption: str
    drawn: Markup


def figures(audit: AttentionAudit) -> Iterator[Figure]:
    tones = by_tone(audit.texts, legend(audit))
    for title, name, floor, caption in (
        (
            "Attention and gradients",
            "attention_gradient",
            "random_gradient",
            "1: the same order of the words, 0: unrelated.",
        ),
        ("Attention and leave-one-out", "attention_loo", "random_loo", "The same."),
        (
            "Gradients and leave-one-out, for comparison",
            "gradient_loo",
            "random_loo",
            "How far two measures of importance agree that know nothing of attention.",
        ),
    ):
        values, random = [taus(texts, name) for texts in tones], taus(audit.texts, floor)
        yield Figure(title, f"{caption} {_RANDOM}", charts.histogram(values, _TAU, title, random))
    title = "Shuffled attention, by its peak"
    caption = "Dots far left in the upper rows: one word had the attention, and it did not matter which."
    yield Figure(title, caption, _by_peak(audit, "median_tvd", _TVD, title))
    title = "How different an attention with the same answer can be"
    values = [column(texts, "jsd") for texts in tones]
    caption = "The most is 0.69: then the two attentions share no word."
    yield Figure(title, caption, charts.histogram(values, _JSD, title))
    title = "The same, by the peak of the attention"
    caption = "Dots far right in the upper rows: even a clear peak could have been elsewhere."
    yield Figure(title, caption, _by_peak(audit, "jsd", _JSD, title))


def _by_peak(audit: AttentionAudit, name: str, scale: Scale, title: str) -> Markup:
    """`median_tvd` or `jsd` of the texts, by their largest weight."""
    named = legend(audit)
    rows = [
        (f"{low:g}–{high:g}", [column(mine, name) for mine in by_tone(texts, named)])
        for (low, high), texts in reversed(audit.binned())
    ]
    return charts.dot_rows(rows, scale, title, "largest weight")


def legend(audit: AttentionAudit) -> list[str]:
    """The labels that have a tone of their own; more than four share the last one."""
    names = labels(audit.texts)
    return names if len(names) <= charts.TONES else [*names[: charts.TONES - 1], OTHERS]


def by_tone(texts: Sequence[AuditedText], named: Sequence[str]) -> list[list[AuditedText]]:
    """The texts of each entry of the legend."""
    places = [named.index(one.label) if one.label in named else len(named) - 1 for one in texts]
    return [[one for one, place in zip(texts, places, strict=True) if place == i] for i in range(len(named))]


def taus(texts: Sequence[AuditedText], name: str) -> Floats:
    """Kendall's tau of the texts that have one."""
    return np.array([tau.value for one in texts if (tau := one.taus[name]) is not None])
