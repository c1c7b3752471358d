"""Which texts people are asked about: as many of each label as of the others, the same whatever else is in the file.

Every text has a random rank of its own, from the seed and its strings; the first of each label are taken, in turns,
until there are enough. A label with few texts gives all it has. The same text twice is one text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest

from assay.workflows.people.example import digest


def balanced(labels: Mapping[int, str], ranks: Mapping[int, str], count: int) -> list[int]:
    """The chosen rows, label by label, each label in the order of the ranks."""
    known = sorted(set(labels.values()))
    queues = [sorted((row for row in labels if labels[row] == label), key=ranks.__getitem__) for label in known]
    turns = [row for row in chain.from_iterable(zip_longest(*queues)) if row is not None]
    return sorted(turns[:count], key=lambda row: (labels[row], ranks[row]))


def first_of_each(texts: Sequence[tuple[str, ...]]) -> list[int]:
    """The places of the texts that did not come before."""
    return sorted({strings: i for i, strings in reversed(list(enumerate(texts)))}.values())


def rank(seed: int, strings: Sequence[str]) -> str:
    """A random place among all texts, which depends on nothing but the seed and this text."""
    return digest("rank", str(seed), *strings)
