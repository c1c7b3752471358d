"""Explanations and verdicts made by hand, for views."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from assay.explanations.about import About, Cost
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.statistics.verdict import Verdict
from assay.text.text import Text, TextLike

LABELS = ("negative", "positive")
SENTENCE = "the acting is superb but the script is a mess"


def told(
    source: TextLike = SENTENCE,
    scores: Sequence[float] | None = None,
    *,
    method: str = "leave_one_out",
    labels: Sequence[str] = LABELS,
    target: int = 0,
    focus: Sequence[str] | None = None,
    **more: object,
) -> TokenScores:
    """An explanation; without scores the words count up from below zero."""
    text = Text.of(source, focus=focus)
    about = About(method=method, title=method.title(), labels=tuple(labels), model="toy", cost=Cost(9, 9, 2, 50, 0))
    chances = np.linspace(2, 1, len(labels)) / np.linspace(2, 1, len(labels)).sum()
    values = np.arange(len(text)) - 1.5 if scores is None else np.array(scores)
    prediction = dict(zip(labels, chances.tolist(), strict=True))
    return TokenScores(Case(text, target), values, prediction=prediction, about=about).told(**more)


def verdict(texts: int = 1, *, good: bool = True, method: str = "leave_one_out", **more: object) -> Verdict:
    rng = np.random.default_rng(0)
    random = rng.normal(0, 0.1, size=(texts, 40))
    scores = np.full(texts, 0.9) + rng.normal(0, 0.01, texts) if good else random[:, 0] * 0
    given: dict[str, object] = {"check": "comprehensiveness", "better": "higher", **more}
    return Verdict(method, scores=scores, random_scores=random, **given)  # type: ignore[arg-type]


# Any text that Assay accepts and that has a word; markup, controls and right-to-left signs come often.
nasty = st.sampled_from(
    ["<script>", "</script>", "<!--", "]]>", "&amp;", '"', "'", "\u202e", "\x1b[2J", "\x00", "שלום", "👨‍👩‍👧"]
)
texts = st.lists(st.one_of(nasty, st.text(st.characters(exclude_categories=["Cs"]), max_size=12)), max_size=6).map(
    lambda parts: " ".join([*parts, "word"])
)
