"""From texts to examples: those that the model gets right, as many of each label, reduced by `input_reduction`.

All texts are predicted, and only the chosen ones are reduced. Without gold labels the model's own answers count as
right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assay.engine.engine import Engine, Outcome
from assay.errors import BadInput
from assay.explanations.edits import Edits
from assay.explanations.text_explanation import TextExplanation
from assay.progress import track
from assay.text.text import TextLike
from assay.verbs import Aims, label_index, stream
from assay.workflows.people.example import TaskText
from assay.workflows.people.free_answers import plain
from assay.workflows.people.sample import balanced, first_of_each, rank

COUNT = 200


@dataclass(frozen=True)
class Made:
    """The examples, and what was left out."""

    examples: tuple[TaskText, ...]
    notes: tuple[str, ...] = ()


def make(
    engine: Engine,
    texts: Sequence[TextLike],
    gold: Sequence[str] | None = None,
    *,
    count: int = COUNT,
    aims: Aims | None = None,
    method: Any = "input_reduction",
    progress: bool | None = False,
) -> Made:
    """So many examples of these texts, chosen by the seed of the aims; `gold` holds the right label of each text."""
    aims = aims or Aims()
    found = _explanations(
        stream(engine.model, texts, "random", aims=aims, engine=engine), range(len(texts)), "asking", progress
    )
    usable = _usable(found, _labels(engine, found, gold))
    if not usable:
        raise BadInput("the model gets no text right, so that there is nothing to ask people about.")
    ranks = {i: rank(aims.seed, found[i].text.read.strings) for i in usable}
    chosen = balanced(usable, ranks, count)
    outcomes = stream(engine.model, [texts[i] for i in chosen], method, aims=aims, engine=engine)
    reduced: list[Edits] = _explanations(outcomes, chosen, "reducing", progress)
    examples = tuple(TaskText.of(i + 1, e, usable[i]) for i, e in zip(chosen, reduced, strict=True))
    return Made(examples, tuple(_notes(len(texts), len(usable), len(chosen), count)))


def _explanations(
    outcomes: Iterable[Outcome[TextExplanation]], rows: Sequence[int], what: str, progress: bool | None
) -> list[Any]:
    """The explanations; an error says which of the texts it is about."""
    shown = track(outcomes, len(rows), what, progress)
    return [outcome.get(f"text {row + 1}") for row, outcome in zip(rows, shown, strict=True)]


def _labels(engine: Engine, found: Sequence[TextExplanation], gold: Sequence[str] | None) -> list[str]:
    """The right answers by their names; empty where nobody knows."""
    if gold is None:
        return [e.label for e in found]
    if len(gold) != len(found):
        raise BadInput(f"{len(found)} texts need as many gold labels, not {len(gold)}.")
    return [label.strip() if _free(e) else _name(engine, label) for e, label in zip(found, gold, strict=True)]


def _name(engine: Engine, label: str) -> str:
    return engine.model.labels[label_index(engine.model, label.strip())] if label.strip() else ""


def _free(e: TextExplanation) -> bool:
    """Whether the model answers in words, which stand in the text as a note."""
    return any(field.part == "note" for field in e.text.fields)


def _usable(found: Sequence[TextExplanation], labels: Sequence[str]) -> dict[int, str]:
    """The right answer of every text that the model gets right, each text once."""
    rows = first_of_each([e.text.read.strings for e in found])
    return {i: labels[i] for i in rows if labels[i] and _same(found[i], labels[i])}


def _same(e: TextExplanation, label: str) -> bool:
    return plain(e.label) == plain(label) if _free(e) else e.label == label


def _notes(given: int, usable: int, chosen: int, wanted: int) -> Iterator[str]:
    yield f"{usable} of {given} texts are usable (each once, and predicted right where gold labels are given)."
    if chosen < wanted:
        yield f"There are {chosen} texts in the study, not {wanted}: no more are usable."
