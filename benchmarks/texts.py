"""Sentences for benchmarks: written here, put together at random, as long as one asks."""

from __future__ import annotations

import random

OPENERS = [
    "the director",
    "this quiet little drama",
    "a cast of newcomers",
    "the second half",
    "her debut feature",
    "the long awaited sequel",
    "a story about two brothers",
    "the script",
    "an old fashioned thriller",
    "the camera",
]
VERBS = [
    "never finds",
    "slowly earns",
    "throws away",
    "keeps",
    "almost loses",
    "gives us",
    "cannot hide",
    "borrows",
    "delivers",
    "promises and then forgets",
]
OBJECTS = [
    "a single honest moment",
    "the warmth of the novel",
    "its best joke",
    "the patience of its audience",
    "a wonderfully tense finale",
    "every cliche of the genre",
    "real tenderness",
    "a hollow and noisy mess",
    "something close to magic",
    "one scene worth the ticket",
]
TAILS = [
    "and",
    "but",
    "while",
    "although",
    ", and yet",
    "; still ,",
    "because",
    "even when",
]


def sentence(rng: random.Random, words: int) -> str:
    """About this many words, and never more."""
    parts: list[str] = []
    while len(parts) < words:
        clause = f"{rng.choice(OPENERS)} {rng.choice(VERBS)} {rng.choice(OBJECTS)} {rng.choice(TAILS)}"
        parts += clause.split()
    return " ".join([*parts[: words - 1], "."])


def sentences(n: int, low: int = 8, high: int = 40, seed: int = 0) -> list[str]:
    rng = random.Random(seed)
    return [sentence(rng, rng.randint(low, high)) for _ in range(n)]
