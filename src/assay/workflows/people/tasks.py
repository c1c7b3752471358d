"""The two tasks that Feng et al. (2018, section 2.3) give to people, as items with a key that is kept apart.

    answer        the right label (or answer), from the whole text or from what input reduction left of it
    preference    the whole text, the reduced one and one shortened at random to the same length: which is preferred?

An answer item shows no trace of where it comes from, a preference item calls its two versions A and B; the reduced one
is A in half of them, and in half of those of each label (give or take one). An item's id is a digest of what it shows
and of the whole text, so that it is the same in every export and fits no other item.

Beside the paper: "cannot tell" is an answer too; a random version that reads like the reduced one is drawn again, and
where there is no other (nothing was taken away) there is no preference item.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from assay.errors import BadInput
from assay.workflows.people.example import TaskText, digest, shown
from assay.workflows.people.random_words import another

Task = Literal["answer", "preference", "intruder"]
Role = Literal["original", "reduced", "preference", "rotated", "unrotated", "random"]
ROLES: tuple[Role, ...] = ("original", "reduced", "preference")
CANNOT_TELL = "cannot tell"
_CHOOSE = "Which of these is right?"
_TELL = "What is the answer?"
_PREFER = "Which of the two shortened versions, A or B, do you prefer?"


@dataclass(frozen=True)
class Item:
    """What people see; `choices` are the answers that count, none where people write their own."""

    id: str
    task: Task
    question: str
    shown: Mapping[str, str]
    choices: tuple[str, ...]
    a: Mapping[str, str] = field(default_factory=dict)
    b: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Key:
    """What people must not see: which of the roles an item has, of which text, and what is right."""

    item: str
    role: Role
    example: int
    label: str
    choices: tuple[str, ...] = ()
    reduced: str = ""  # the letter of the reduced version


@dataclass(frozen=True)
class Tasks:
    """All items, in an order that says nothing, and their keys in the order of the texts."""

    items: tuple[Item, ...]
    keys: tuple[Key, ...]
    seed: int = 0
    notes: tuple[str, ...] = ()


def tasks(examples: Sequence[TaskText], seed: int = 0) -> Tasks:
    """Three items for every text; in the key the texts come label by label."""
    if not examples:
        raise BadInput("there is no text to ask people about.")
    by_label = sorted(examples, key=lambda one: (one.label, one.row))
    pairs = [*_answers(by_label), *_preferences(by_label, seed)]
    keys = sorted((key for _, key in pairs), key=lambda key: (key.label, key.example, ROLES.index(key.role)))
    _require_distinct(keys)
    items = sorted((item for item, _ in pairs), key=lambda item: (item.task, digest(str(seed), item.id)))
    return Tasks(tuple(items), tuple(keys), seed, tuple(_notes(examples, keys)))


def _answers(examples: Iterable[TaskText]) -> Iterator[tuple[Item, Key]]:
    for one in examples:
        choices = (*one.choices, CANNOT_TELL) if one.choices else ()
        for role, seen in (("original", one.whole), ("reduced", one.short)):
            # Two texts may be reduced to the same words, and a text to itself: all of these are items of their own.
            name = digest(role, *one.whole.values(), *seen.values(), *choices)
            item = Item(name, "answer", _CHOOSE if choices else _TELL, seen, choices)
            yield item, Key(name, role, one.row, one.label, choices)  # type: ignore[arg-type]


def _preferences(examples: Sequence[TaskText], seed: int) -> Iterator[tuple[Item, Key]]:
    drawn = [(one, another(one.text, one.length, {one.reduced}, seed)) for one in examples]
    there = [(one, shown(other)) for one, other in drawn if other is not None]
    for (one, other), first in zip(there, _halves(len(there), seed), strict=True):
        yield _preference(one, other, first)


def _preference(one: TaskText, other: Mapping[str, str], first: bool) -> tuple[Item, Key]:
    changed = [name for name, string in one.whole.items() if {string} != {one.short[name], other[name]}]
    pair = [{name: version[name] for name in changed} for version in (one.short, other)]
    a, b = pair if first else pair[::-1]
    choices = ("A", "B", CANNOT_TELL)
    name = digest("preference", *one.whole.values(), *a.values(), *b.values())
    item = Item(name, "preference", _PREFER, one.whole, choices, a, b)
    return item, Key(name, "preference", one.row, one.label, choices, "A" if first else "B")


def _halves(n: int, seed: int) -> list[bool]:
    """True for half of them, and in every pair of neighbours for one: balanced in each label, as labels stand apart."""
    first = np.random.default_rng([seed, n]).random((n + 1) // 2) < 0.5
    return np.stack([first, ~first], axis=1).ravel()[:n].tolist()  # type: ignore[no-any-return]


def _require_distinct(keys: Sequence[Key]) -> None:
    if len({key.item for key in keys}) < len(keys):
        raise BadInput("the same text is there twice; give every text once.")


def _notes(examples: Sequence[TaskText], keys: Sequence[Key]) -> Iterator[str]:
    same = len(examples) - sum(key.role == "preference" for key in keys)
    if same:
        have = "has" if same == 1 else "have"
        yield f"{same} of {len(examples)} texts {have} no second version of the reduced length, so no preference item."
