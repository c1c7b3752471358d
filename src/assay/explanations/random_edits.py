"""Random edits of the same size: the same operations at random places, with random words.

As many words are replaced, removed and inserted as by given operations. A word that is put in differs from the one
that stood there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Edited = tuple[list[str | None], tuple[Any, ...]]


def random_words(
    words: Sequence[str], operations: Sequence[tuple[Any, ...]], pool: Sequence[str], generator: np.random.Generator
) -> Edited:
    """The words after as many random operations of each kind, and these operations in the order of their places."""
    kinds = [operation[0] for operation in operations]
    alter = [kind for kind in kinds if kind != "insert"][: len(words)]
    places = generator.permutation(len(words)).tolist()[: len(alter)]
    made = dict(zip(places, alter, strict=True))
    inserted = sorted(generator.integers(len(words), size=kinds.count("insert")).tolist())
    result: list[str | None] = list(words)
    done: list[tuple[Any, ...]] = []
    for at in sorted({*made, *inserted}):
        if made.get(at) == "remove":
            result[at] = None
            done.append(("remove", at, words[at]))
        elif made.get(at) == "replace":
            result[at] = _other(words[at], pool, generator)
            done.append(("replace", at, words[at], result[at]))
        for _ in range(inserted.count(at)):
            new = _other("", pool, generator)
            result[at] = f"{new} {result[at]}" if result[at] else new
            done.append(("insert", at, new))
    return result, tuple(done)


def _other(word: str, pool: Sequence[str], generator: np.random.Generator) -> str:
    """A random word of the pool that is not this one, unless the pool has no other."""
    others = [new for new in pool if new.lower() != word.lower()] or list(pool)
    return others[int(generator.integers(len(others)))]
