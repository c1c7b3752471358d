"""Which rules make one text of another: each changed part, alone or with one word beside it.

    a good film . -> a good movie .        film -> movie,  good film -> good movie,  ADJ film -> ADJ movie,
                                           film . -> movie .,  film PUNCT -> movie PUNCT

What was only inserted is told by the word before it or behind it: film -> good film.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from assay.text.word_rules import Beside, WordRule


class ChangedPart(NamedTuple):
    """The words from `start` to before `end`, and those that stand in their place."""

    start: int
    end: int
    new: tuple[str, ...]


def changed_parts(old: Sequence[str], new: Sequence[str], most: int) -> list[ChangedPart]:
    """The parts that differ, none longer than so many words; what is inserted takes a neighbour along."""
    before, after = [word.lower() for word in old], [word.lower() for word in new]
    found: list[ChangedPart] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "insert":
            found += [ChangedPart(a, a + 1, (*after[c:d], before[a]))] if a < len(before) else []
            found += [ChangedPart(a - 1, a, (before[a - 1], *after[c:d]))] if a else []
        elif kind != "equal":
            found.append(ChangedPart(a, b, tuple(after[c:d])))
    return [part for part in found if part.end - part.start <= most and len(part.new) <= most]


def neighbours(part: ChangedPart, words: Sequence[str]) -> list[int]:
    """The places beside a part, as far as there are words."""
    return [at for at in (part.start - 1, part.end) if 0 <= at < len(words)]


def rules_of(part: ChangedPart, words: Sequence[str], tags: Mapping[int, str]) -> Iterator[WordRule]:
    """The change wherever its words stand, and beside each neighbour, by its word and by its part of speech."""
    old = tuple(word.lower() for word in words[part.start : part.end])
    yield WordRule(old, part.new)
    for at in neighbours(part, words):
        besides = [Beside(words[at].lower()), *([Beside(tags[at], is_tag=True)] if at in tags else [])]
        for one in besides:
            yield WordRule(old, part.new, left=one) if at < part.start else WordRule(old, part.new, right=one)
