"""Reduced texts by hand: which words are left, and what the model says, without a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.explanations.about import About
from assay.explanations.case import Case
from assay.explanations.edits import Edit, Edits
from assay.text.text import Text
from assay.workflows.people import TaskText

LABELS = ("entailment", "neutral", "contradiction")
WORDS = "a man woman dog is was sleeping running outside inside under the big red old tree house near two".split()


def reduced(source: Any, *kept: tuple[int, ...], target: int = 0, chances: Any = None, labels: Any = LABELS) -> Edits:
    """A path from the whole text over the words that are kept in each step; `chances` of the target, step by step."""
    focus = ["hypothesis"] if isinstance(source, tuple) else None
    text = Text.of(source, focus=focus)
    steps = (tuple(range(len(text))), *kept)
    edits = []
    for step, chance in zip(steps, chances or [0.8] * len(steps), strict=True):
        version = text.keep([i in step for i in range(len(text))])
        removed = tuple(("remove", i, word) for i, word in enumerate(text.words) if i not in step)
        edits.append(Edit(version.strings, _told(chance, target, labels), removed, step, len(text.fields) - 1))
    about = About(method="input_reduction", labels=labels)
    prediction = dict(edits[0].prediction)
    return Edits(Case(text, target), tuple(edits), tuple(edits[-1:]), prediction=prediction, about=about)


def _told(chance: float, target: int, labels: Any) -> dict[str, float]:
    rest = (1 - chance) / (len(labels) - 1)
    return {name: chance if i == target else rest for i, name in enumerate(labels)}


def some(count: int, seed: int = 0, labels: Any = LABELS) -> list[Edits]:
    """Pairs of random words, each reduced to one or two of them; the labels come in turns."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(count):
        premise = f"{' '.join(rng.choice(WORDS, 6))} {i}"
        words = rng.permutation(WORDS)[: rng.integers(4, 9)]
        left = tuple(sorted(rng.permutation(len(words))[: rng.integers(1, 3)].tolist()))
        found.append(reduced((premise, " ".join(words)), left, target=i % len(labels), labels=labels))
    return found


def examples(count: int, seed: int = 0) -> list[TaskText]:
    return [TaskText.of(i, e) for i, e in enumerate(some(count, seed), start=1)]
