"""Who answers what: nobody sees a text twice, and everybody sees every label and every kind of item equally often.

    rotated    person p sees text j in role (p + j) mod 3: original, reduced or preference; any number of people
    groups     person p has one role for all texts, p mod 3, as the groups of the paper; three people or more

Seeing the reduced version of a text would help with the original, and would make it known in the preference task; so
the three roles of a text go to three groups of people, in both designs. Answer items come before preference items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from assay.errors import BadInput
from assay.workflows.people.example import digest
from assay.workflows.people.tasks import ROLES, Key, Role, Tasks

DESIGNS = ("rotated", "groups")
_Group: TypeAlias = tuple[int, Role]


@dataclass(frozen=True)
class Assignment:
    """One item on the list of one person."""

    annotator: str
    position: int
    item: str


def lists(tasks: Tasks, annotators: int, *, design: str = "rotated", each: int | None = None) -> tuple[Assignment, ...]:
    """The list of every person; `each` is how many people answer an item, all of their group by default."""
    require_people(annotators, design, each)
    names = _names(annotators)
    chosen: dict[str, list[Key]] = {name: [] for name in names}
    turn: dict[_Group, int] = defaultdict(int)
    for j, keys in enumerate(_by_text(tasks.keys)):
        for key in keys:
            group = (ROLES.index(key.role) - (j if design == "rotated" else 0)) % len(ROLES)
            people = names[group :: len(ROLES)]
            for name in _next(people, each, turn, (group, key.role)):
                chosen[name].append(key)
    return tuple(a for name in names for a in _list(name, chosen[name], tasks.seed))


def lists_of_all(tasks: Tasks, annotators: int, each: int | None = None) -> tuple[Assignment, ...]:
    """Items of which none gives another away: everybody answers all of them, or `each` people one, in turns."""
    require_people(annotators, DESIGNS[0], each)
    names = _names(annotators)
    chosen: dict[str, list[Key]] = {name: [] for name in names}
    turn: dict[_Group, int] = defaultdict(int)
    for key in tasks.keys:
        for name in _next(names, each, turn, (0, ROLES[0])):
            chosen[name].append(key)
    return tuple(a for name in names for a in _list(name, chosen[name], tasks.seed))


def _next(people: Sequence[str], each: int | None, turn: dict[_Group, int], group: _Group) -> list[str]:
    """The people whose turn it is; each role has its own turns, or some would only ever meet one role."""
    count = len(people) if each is None else min(each, len(people))
    start, turn[group] = turn[group], turn[group] + count
    return [people[(start + i) % len(people)] for i in range(count)]


def _by_text(keys: Iterable[Key]) -> Iterator[list[Key]]:
    return (list(of) for _, of in groupby(keys, key=lambda key: key.example))


def _list(name: str, keys: Iterable[Key], seed: int) -> Iterator[Assignment]:
    order = sorted(keys, key=lambda key: (key.role == "preference", digest(str(seed), name, key.item)))
    return (Assignment(name, i, key.item) for i, key in enumerate(order, start=1))


def _names(annotators: int) -> list[str]:
    width = len(str(annotators))
    return [f"P{i:0{width}}" for i in range(1, annotators + 1)]


def require_people(annotators: int, design: str, each: int | None) -> None:
    """An error where these people cannot be given lists."""
    if design not in DESIGNS:
        raise BadInput(f"the design is {' or '.join(DESIGNS)}, not {design!r}.")
    least = len(ROLES) if design == "groups" else 1
    if annotators < least:
        raise BadInput(f"the design {design!r} needs {least} or more annotators, not {annotators}.")
    if each is not None and each < 1:
        raise BadInput(f"an item is answered by 1 or more people, not {each}.")
