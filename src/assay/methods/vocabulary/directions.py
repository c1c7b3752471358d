"""Directions in a space of words: principal components, and the line along which pairs of words differ.

    pc1          of the rows a - m and b - m with m = (a + b) / 2, over all pairs (a, b): Bolukbasi et al. (2016)
    difference   b - a of the first pair alone, as she-he

Vectors have length 1 first, as there. Every direction points from the first words of its pairs to the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from assay.errors import BadInput
from assay.statistics.arrays import Floats

Definition = Literal["pc1", "difference"]
PAIRS = (
    ("she", "he"),
    ("woman", "man"),
    ("her", "his"),
    ("herself", "himself"),
    ("mother", "father"),
    ("daughter", "son"),
    ("sister", "brother"),
    ("girl", "boy"),
    ("aunt", "uncle"),
    ("queen", "king"),
)


class Direction(NamedTuple):
    """A vector of length 1, and how much of what it was made from lies along it."""

    vector: Floats
    share: float


def unit(vectors: Floats) -> Floats:
    """Vectors of length 1; those of length 0 stay."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1))


def components(vectors: Floats, count: int) -> tuple[Floats, Floats]:
    """The first principal components [count, size], and the share of the variance of each.

    The sign of a component is free: here its entry of the largest size is positive.
    """
    centred = vectors - vectors.mean(axis=0)
    _, sizes, found = np.linalg.svd(centred, full_matrices=False)
    total = float((sizes**2).sum())
    if total == 0:
        raise BadInput("all words have the same vector, so there is nothing to project.")
    chosen = np.zeros((count, vectors.shape[1]))
    chosen[: len(found[:count])] = found[:count]
    largest = np.abs(chosen).argmax(axis=1)
    chosen *= np.where(chosen[np.arange(count), largest] < 0, -1, 1)[:, None]
    shares = np.zeros(count)
    shares[: len(sizes[:count])] = sizes[:count] ** 2 / total
    return chosen, shares


def pair_direction(first: Floats, second: Floats, definition: Definition) -> Direction:
    """From the first words of the pairs to the second [pairs, size]."""
    first, second = unit(first), unit(second)
    if definition == "difference":
        first, second = first[:1], second[:1]
    # Both ends of a pair lie symmetrically around its middle, so that the rows have the mean 0 already.
    halves = (second - first) / 2
    _, sizes, found = np.linalg.svd(np.concatenate([halves, -halves]), full_matrices=False)
    if not sizes[0] > 0:
        raise BadInput("the words of each pair have the same vector, so they give no direction.")
    vector = found[0] * (-1 if (halves @ found[0]).sum() < 0 else 1)
    return Direction(vector, float(sizes[0] ** 2 / (sizes**2).sum()))


def both_known(pairs: Sequence[tuple[str, str]], words: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs whose words both have a vector."""
    known = set(words)
    found = [(a, b) for a, b in pairs if a in known and b in known]
    if not found:
        raise BadInput(f"no pair has vectors of both its words; the first is {pairs[0][0]!r} and {pairs[0][1]!r}.")
    return found


def correlation_of_means(means: Any) -> Any:
    """Pearson's correlation from the means of x, y, xy, xx and yy."""
    x, y, xy, xx, yy = np.moveaxis(means, -1, 0)
    spread = (xx - x**2) * (yy - y**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (xy - x * y) / np.sqrt(np.where(spread > 0, spread, np.nan))
