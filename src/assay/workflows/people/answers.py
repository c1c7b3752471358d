"""What people answered, held against the key: every answer belongs to an item, once for each person, and is allowed.

An empty answer is a missing one. "Cannot tell" may also be written "tie"; small and capital letters are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.errors import BadInput, UnknownName
from assay.workflows.people.lists import Assignment
from assay.workflows.people.tasks import CANNOT_TELL, Key

_TIES = (CANNOT_TELL, "tie", "can't tell")


@dataclass(frozen=True)
class Answer:
    """What one person said to one item, as it stands in the file."""

    item: str
    annotator: str
    answer: str


@dataclass(frozen=True)
class Answered:
    """An item and all answers to it, by person, each spelled as the item's choice is."""

    key: Key
    answers: Mapping[str, str]


@dataclass(frozen=True)
class Collected:
    """All items with their answers, and what is wrong with the collection as a whole.

    `missing` counts answers that were asked for and did not come: by the lists where there are any, else one for each
    item that nobody answered. `unasked` counts answers that are on no list, `seen_twice` how often a person met a text
    in more than one role.
    """

    items: tuple[Answered, ...]
    missing: int = 0
    unasked: int = 0
    seen_twice: int = 0

    @property
    def count(self) -> int:
        return sum(len(one.answers) for one in self.items)


def collect(keys: Sequence[Key], answers: Iterable[Answer], assignments: Iterable[Assignment] = ()) -> Collected:
    """The answers item by item; an error for what cannot be counted."""
    known = {key.item: key for key in keys}
    found: dict[str, dict[str, str]] = {key.item: {} for key in keys}
    for one in answers:
        if one.item not in known:
            raise UnknownName(f"no item of this study is called {one.item!r}; these answers belong to another one.")
        if one.annotator in found[one.item]:
            raise BadInput(f"{one.annotator} answered the item {one.item} twice; keep one of the two answers.")
        found[one.item][one.annotator] = spelled(one, known[one.item])
    given = {item: {who: answer for who, answer in of.items() if answer} for item, of in found.items()}
    items = tuple(Answered(key, given[key.item]) for key in keys)
    came = {(item, who) for item, of in given.items() for who in of}
    asked = {(a.item, a.annotator) for a in assignments}
    missing = len(asked - came) if asked else sum(not of for of in given.values())
    return Collected(items, missing, len(came - asked) if asked else 0, _seen_twice(items))


def spelled(one: Answer, key: Key) -> str:
    """The choice that an answer means; nothing where there is no answer."""
    answer, named = _plain(one.answer), {_plain(choice): choice for choice in key.choices}
    if not answer or answer in named:
        return named.get(answer, "")
    if answer in _TIES:
        return CANNOT_TELL
    if not key.choices:
        return " ".join(one.answer.split())
    raise BadInput(
        f"{one.annotator} answered {one.answer!r} to the item {one.item}, which is not one of {', '.join(key.choices)}."
    )


def _plain(string: str) -> str:
    return " ".join(string.replace("_", " ").split()).casefold()


def _seen_twice(items: Iterable[Answered]) -> int:
    met = Counter((who, one.key.example) for one in items for who in one.answers)
    return sum(times > 1 for times in met.values())
