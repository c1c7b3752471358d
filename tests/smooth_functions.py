"""Smooth functions of one number a word, whose gradients a method is told without a model; and slow integrals of them.

told = smooth_functions.walk(IntegratedGradients(), Network.of(4, seed=0), x, {"pad": zeros})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.answers import Gradients
from assay.text.text import Text

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Smooth:
    """A function of points [n, words] and its gradient there."""

    value: Callable[[Array], Array]
    gradient: Callable[[Array], Array]

    def __add__(self, other: Smooth) -> Smooth:
        return Smooth(lambda x: self.value(x) + other.value(x), lambda x: self.gradient(x) + other.gradient(x))

    def __rmul__(self, factor: float) -> Smooth:
        return Smooth(lambda x: factor * self.value(x), lambda x: factor * self.gradient(x))


def network(words: int, seed: int, hidden: int = 8) -> Smooth:
    """A small random network with two layers; word i counts only through column i of the first."""
    rng = np.random.default_rng(seed)
    return layers(rng.normal(size=(words, hidden)), rng.normal(size=hidden), rng.normal(size=hidden))


def layers(first: Array, bias: Array, second: Array) -> Smooth:
    return Smooth(
        lambda x: np.tanh(x @ first + bias) @ second,
        lambda x: ((1 - np.tanh(x @ first + bias) ** 2) * second) @ first.T,
    )


def walk(method: Any, f: Smooth, x: Array, baselines: Mapping[str, Array], seed: int = 0) -> TokenScores:
    """Answer a method's questions on the way from its baselines, by name or by text, to the text that stands for x."""
    talk = method.explain(Case(Text.of(" ".join(f"w{i}" for i in range(len(x)))), 1, seed=seed))
    answer = None
    while True:
        try:
            question = talk.send(answer)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        starts = np.array([baselines[str(start)] for start in question.baselines])
        points = starts + np.array(question.at)[:, None] * (x - starts)
        answer = [Gradients(f.value(points), f.gradient(points) * (x - starts))]


def integral(f: Smooth, start: Array, x: Array, points: int = 400) -> Array:
    """(x - start) times the mean gradient on the straight way, by the midpoints of many small steps."""
    at = (np.arange(points) + 0.5)[:, None] / points
    return f.gradient(start + at * (x - start)).mean(axis=0) * (x - start)
