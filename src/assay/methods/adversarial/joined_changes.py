"""Which changes of paraphrases to make together: those that turn the answer most for the likelihood that they cost.

    max  sum of moved(c)     such that     sum of log q(x + c | x) / q(x | x)  >=  log threshold     c do not meet

A change may make the text likelier than it was (`do n't` -> `don't`), another less likely: made together they may keep
S where the second alone does not. Both sums are as if changes did not act on each other, so the best sets are tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from typing import TypeAlias

from assay.explanations.rewritten import WordChange

Changes: TypeAlias = tuple[WordChange, ...]


@dataclass(frozen=True)
class WeighedChange:
    """A change, by how much it moves the log-odds to the goal, and how much likelier it makes the text (log)."""

    change: WordChange
    moved: float
    likelier: float


def best_sets(weighed: Sequence[WeighedChange], most: int, least: float, wanted: int) -> list[tuple[Changes, float]]:
    """So many sets of 2 to `most` changes that are thought to be as likely as `least`, those that move most first.

    Each comes with its likelihood, as a logarithm beside that of the text.
    """
    found = []
    for chosen in _sets(weighed, most):
        likelier = sum(one.likelier for one in chosen)
        if likelier >= least:
            found.append((sum(one.moved for one in chosen), tuple(sorted(one.change for one in chosen)), likelier))
    found.sort(key=lambda one: (-one[0], one[1]))
    return [(changes, likelier) for _, changes, likelier in found[:wanted]]


def _sets(weighed: Sequence[WeighedChange], most: int) -> Iterator[Sequence[WeighedChange]]:
    meeting = {(i, j) for i, j in combinations(range(len(weighed)), 2) if weighed[i].change.meets(weighed[j].change)}
    for size in range(2, most + 1):
        for places in combinations(range(len(weighed)), size):
            if meeting.isdisjoint(combinations(places, 2)):
                yield [weighed[i] for i in places]


def in_turn(*orders: Iterable[WordChange]) -> list[WordChange]:
    """The first of each order, then the second of each, and so on, each change once."""
    rows = zip_longest(*orders)
    return list(dict.fromkeys(change for row in rows for change in row if change is not None))
