"""Plain words: headings, numbers, settings and costs, the same in every view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.explanations.about import About, Cost
from assay.explanations.base import Explanation
from assay.explanations.brief import probability
from assay.explanations.text_explanation import TextExplanation
from assay.explanations.token_matrix import TokenMatrix
from assay.explanations.token_scores import TokenScores
from assay.registry.finding import methods
from assay.views.shades import is_flat

_LONGEST = 40
EACH_LABEL = "What speaks for each label?"


def number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def signed(value: float) -> str:
    return f"{value:+.3g}".replace("-", "−")


def chance(value: float) -> str:
    """A probability; never 1.00 or 0.00 for what is only close to it."""
    return probability(value)


def counted(n: int, thing: str) -> str:
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


def method_title(e: Explanation) -> str:
    return e.about.title or e.about.method or e.kind


def label(e: TextExplanation, index: int) -> str:
    return e.about.labels[index] if index < len(e.about.labels) else str(index)


def predicted(e: TextExplanation) -> str | None:
    """The most likely label; among equals the first."""
    return max(e.prediction, key=lambda name: e.prediction[name]) if e.prediction else None


def heading(e: TextExplanation) -> str:
    """The question that is answered."""
    if isinstance(e, TokenMatrix):
        return "What does each token rest on?"
    if e.case.against is not None:
        return f"Why “{e.label}” rather than “{label(e, e.case.against)}”?"
    one_outcome = any(field.part == "note" for field in e.text.fields)  # against all others together: they say nothing
    if one_outcome or predicted(e) in (None, e.label):
        return f"Why “{e.label}”?"
    return f"What speaks for “{e.label}”? The model says “{predicted(e)}”."


def asides(e: TextExplanation) -> Iterator[tuple[str, str]]:
    """The fields of a text that an edit leaves as they are, by name."""
    for field in e.text.fields:
        if field.part == "own" and field.name not in e.text.focus:
            yield field.name, field.string


def settings(e: Explanation) -> list[str]:
    """Parameters, facts and cost, each in two or three words; of one name, the parameter."""
    return [*named({**e.facts, **telling(e.about)}), *cost(e.about.cost)]


def telling(about: About) -> dict[str, Any]:
    """The parameters that say how the method was used: choices by name, and whatever else is not as usual."""
    card = methods().get(about.method)
    usual = card.defaults() if card else {}
    return {n: v for n, v in about.parameters.items() if _is_name(v) or n not in usual or v != usual[n]}


def _is_name(value: Any) -> bool:
    """Whether a parameter is a choice by name; a prompt, say, is none."""
    return isinstance(value, str) and len(value.split()) == 1


def cost(cost: Cost) -> Iterator[str]:
    if cost.forwards - cost.backwards:
        yield counted(cost.forwards - cost.backwards, "forward")
    if cost.backwards:
        yield counted(cost.backwards, "gradient")
    if cost.generated:
        yield counted(cost.generated, "written token")


def origin(e: TextExplanation, unit: str = "word") -> list[str]:
    """Where the explanations of this text come from; `unit` is what a score is of."""
    parts = [f"model {e.about.model}"] if e.about.model else []
    return [*parts, counted(len(e.text), unit), f"seed {e.about.seed}", f"explains the {scale(e)}"]


def scale(e: TextExplanation) -> str:
    """The number that is explained."""
    return "difference of two logits" if e.case.against is not None else e.case.scalar.replace("_", "-")


def truncation(e: TextExplanation) -> str | None:
    """A sentence where the text was longer than the model's window."""
    if not e.truncated:
        return None
    verb = "lies" if len(e.unseen) == 1 else "lie"
    return f"Truncated: {counted(len(e.unseen), 'word')} {verb} beyond the model's window; the model did not see them."


def remarks(e: TextExplanation) -> list[str]:
    """What a reader must know of an explanation before its own warnings."""
    found = [truncation(e) or ""]
    if isinstance(e, TokenScores) and is_flat(e) and e.facts.get("parsed") is not False:  # a reply that says nothing
        zero = "zero but for rounding" if e.scores.any() else "zero"
        found.append(f"All scores are {zero}: no word moves the answer here.")
    return [one for one in found if one]


def named(facts: Mapping[str, Any]) -> Iterator[str]:
    """Plain facts as `name value`; nested ones are left to JSON."""
    for name, value in facts.items():
        title = name.replace("_", " ")
        if value is True:
            yield title
        elif isinstance(value, float):
            yield f"{title} {number(value)}"
        elif isinstance(value, int | str) and value is not False:
            said = f"{title} {value}"
            yield said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1].rstrip()}…"
