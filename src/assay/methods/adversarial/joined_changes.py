"""Which changes of paraphrases to make together: those that turn the answer most for the likelihood that they cost.

    max  sum of moved(c)     such that     sum of log q(x + c | x) / q(x | x)  >=  log threshold     c do not meet

A change may make the text likelier than it was (`do n't` -> `don't`), another less likely: made together they may keep
S where the second alone does not. Both sums are as if changes did not act on each other, so the best sets are tried,
and the search goes on from those whose numbers turned out best (`start`). Sets grow by one change at a time. Of each
size only the best `width` grow further: half of them those that move most, half those that move most for what they
cost, as what makes the text likelier turns nothing by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeAlias, TypeVar

from assay.explanations.rewritten import WordChange

Changes: TypeAlias = tuple[WordChange, ...]
T = TypeVar("T")


@dataclass(frozen=True)
class WeighedChange:
    """A change, by how much it moves the log-odds to the goal, and how much likelier it makes the text (log)."""

    change: WordChange
    moved: float
    likelier: float


@dataclass(frozen=True)
class JoinedChanges:
    """Changes that are made together, in the order of their places, with both numbers of the whole."""

    changes: Changes = ()
    moved: float = 0.0
    likelier: float = 0.0

    def with_change(self, one: WeighedChange) -> JoinedChanges:
        changes = tuple(sorted((*self.changes, one.change)))
        return JoinedChanges(changes, self.moved + one.moved, self.likelier + one.likelier)

    def meets(self, change: WordChange) -> bool:
        return any(change.meets(own) for own in self.changes)


NOTHING = JoinedChanges()


def best_sets(
    weighed: Sequence[WeighedChange],
    most: int,
    least: float,
    wanted: int,
    width: int = 100,
    start: Sequence[JoinedChanges] = (NOTHING,),
) -> list[JoinedChanges]:
    """So many sets, of two changes or more, that are thought to be as likely as `least`, those that move most first.

    Each has up to `most` changes more than one of the sets to start from.
    """
    found: dict[Changes, JoinedChanges] = {}
    growing = list(start)
    for _ in range(most):
        grown: dict[Changes, JoinedChanges] = {}
        for one in _grown(growing, weighed):
            grown.setdefault(one.changes, one)  # reached from several, it is thought of as from the best of them
        found |= {changes: one for changes, one in grown.items() if len(changes) > 1 and one.likelier >= least}
        growing = _widest(list(grown.values()), width)
    return sorted(found.values(), key=_by_moved)[:wanted]


def _grown(sets: Sequence[JoinedChanges], weighed: Sequence[WeighedChange]) -> Iterator[JoinedChanges]:
    for own in sets:
        yield from (own.with_change(one) for one in weighed if not own.meets(one.change))


def _widest(sets: Sequence[JoinedChanges], width: int) -> list[JoinedChanges]:
    """Those that move most, and those that move most and are likely, in turn."""
    orders = sorted(sets, key=_by_moved), sorted(sets, key=_by_both)
    return in_turn(*orders)[:width]


def _by_moved(one: JoinedChanges) -> tuple[float, Changes]:
    return -one.moved, one.changes


def _by_both(one: JoinedChanges) -> tuple[float, Changes]:
    return -one.moved - one.likelier, one.changes


def in_turn(*orders: Iterable[T]) -> list[T]:
    """The first of each order, then the second of each, and so on, each one once."""
    rows = zip_longest(*orders)
    return list(dict.fromkeys(one for row in rows for one in row if one is not None))
