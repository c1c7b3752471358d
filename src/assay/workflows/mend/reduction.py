"""Input reduction of labelled texts, as mending needs it: all shortest versions, and random ones of the same lengths.

The random version of a text keeps as many of its words, drawn from the seed and the text alone, in their order: the
paper's baseline, which shows whether input reduction is needed at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from assay.engine.engine import Engine
from assay.explanations.edits import Edits
from assay.models import TextModel
from assay.text.text import Row, TextLike
from assay.verbs import Aims, stream


class Reduced(NamedTuple):
    """A reduced version of a text, a random one of the same length, and this length in words."""

    row: Row
    random: Row
    words: int


def reductions(engine: Engine, texts: Sequence[TextLike], named: str, aims: Aims, **settings: Any) -> Iterator[Edits]:
    """The reduction of each text in turn; an error says which of the texts it is about."""
    outcomes = stream(engine.model, texts, "input_reduction", aims=aims, engine=engine, **settings)
    return (outcome.get(f"text {i} of {named}") for i, outcome in enumerate(outcomes, start=1))  # type: ignore[misc]


def focused(model: TextModel, texts: Sequence[TextLike]) -> tuple[str, ...] | None:
    """What is reduced if nobody says: the model's own focus, of pairs the second text, as the paper has it."""
    if model.focus is not None:
        return model.focus
    if not isinstance(texts[0], tuple | list):
        return None
    return (model.fields[1] if len(model.fields) > 1 else "hypothesis",)


def versions(e: Edits, reads: int, seed: int) -> list[Reduced]:
    """All shortest versions of one text, each with a random one; `reads` is how many strings the model is given."""
    rng = np.random.default_rng([seed, e.text.seed])
    return [
        Reduced(edit.strings[:reads], _random(e, len(edit.kept), rng)[:reads], len(edit.kept)) for edit in e.shortest
    ]


def _random(e: Edits, words: int, rng: np.random.Generator) -> Row:
    keep = np.zeros(len(e.text), dtype=bool)
    keep[rng.choice(len(e.text), words, replace=False)] = True
    return e.text.keep(keep).strings


def distinct(found: Sequence[Reduced]) -> list[Reduced]:
    """Each reduced version once, with the random one of the text that gave it first."""
    first: dict[Row, Reduced] = {}
    for one in found:
        first.setdefault(one.row, one)
    return list(first.values())
