"""A task that tiny models learn in a few epochs: the label is in one word of a sentence."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from assay.training.attentive import Attend

GOOD, BAD = ("good", "fine", "superb"), ("bad", "dull", "awful")
OTHERS = "a the film plot actor scene was is with of and story camera light".split()

Labelled = list[tuple[Any, str]]


@cache
def sentences(n: int = 200, seed: int = 0) -> Labelled:
    rng = np.random.default_rng(seed)
    return [_sentence(rng, i % 2) for i in range(n)]


def _sentence(rng: np.random.Generator, label: int) -> tuple[str, str]:
    words = rng.choice(OTHERS, int(rng.integers(2, 9))).tolist()
    words.insert(int(rng.integers(len(words) + 1)), str(rng.choice((BAD, GOOD)[label])))
    return " ".join(words), ("negative", "positive")[label]


def columns(data: Labelled) -> tuple[list[Any], list[str]]:
    return [text for text, _ in data], [label for _, label in data]


def pairs(n: int = 120, seed: int = 0) -> Labelled:
    return [((text, "was it fine ?"), label) for text, label in sentences(n, seed)]


def how(epochs: int = 2, **changes: Any) -> Attend:
    made = Attend(hidden=8, size=8, device="cpu", batch=16, **changes)
    return replace(made, plan=replace(made.plan, epochs=epochs, rate=0.02, seed=10))
