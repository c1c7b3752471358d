"""A text written anew as a whole: what searches that do not go word by word find, and its edit.

The operations are those of the shortest difference in words: a word that stands in the place of another is replaced,
what is left on one side is removed or inserted. Places are those in the whole text; what is inserted stands before the
word at its place, at the very end behind the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple, Self

from assay.explanations.edits import Edit, Operation
from assay.statistics.arrays import Floats
from assay.text.distance import edit_distance
from assay.text.text import Field, Text


@dataclass(frozen=True)
class Rewritten:
    """Another string in the one field of the text that is in focus, what the model says to it, and its numbers."""

    whole: Text
    string: str
    chances: tuple[float, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def text(self) -> Text:
        """As the model reads it; its words are not explained."""
        fields = (Field(f.name, self.string, ()) if f.name in self.whole.focus else f for f in self.whole.fields)
        return Text(tuple(fields), ())

    @cached_property
    def size(self) -> int:
        """How many words must be inserted, removed or replaced to come here from the whole text."""
        return edit_distance(self.whole.words, Text.of(self.string).words)

    def with_chances(self, chances: Floats) -> Self:
        return replace(self, chances=tuple(chances.tolist()))

    def edit(self, flips: bool) -> Edit:
        """With what went and what came."""
        old, new = self.whole.words, Text.of(self.string).words
        operations = tuple(word_operations(old, new))
        gone = {operation[1] for operation in operations if operation[0] != "insert"}
        kept = tuple(i for i in range(len(old)) if i not in gone)
        edited = next(i for i, f in enumerate(self.whole.fields) if f.name in self.whole.focus)
        chances = {str(i): chance for i, chance in enumerate(self.chances)}
        return Edit(self.text.strings, chances, operations, kept, edited, flips, dict(self.scores))


def word_operations(old: Sequence[str], new: Sequence[str]) -> Iterator[Operation]:
    """How the new words come from the old ones, from left to right."""
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        both = min(b - a, d - c)
        yield from (("replace", a + i, old[a + i], new[c + i]) for i in range(both))
        yield from (("remove", i, old[i]) for i in range(a + both, b))
        yield from (("insert", min(b, len(old) - 1), word) for word in new[c + both : d])


class WordChange(NamedTuple):
    """The words from `start` to before `end` of a text, and those that stand in their place in another."""

    start: int
    end: int
    new: tuple[str, ...]

    def meets(self, other: WordChange) -> bool:
        """Whether both are about the same place, so that they cannot be made together."""
        return self.start <= other.end and other.start <= self.end


def word_changes(old: Sequence[str], new: Sequence[str]) -> list[WordChange]:
    """The parts that differ, from left to right."""
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [WordChange(a, b, tuple(new[c:d])) for kind, a, b, c, d in blocks if kind != "equal"]


def with_changes(text: Text, changes: Sequence[WordChange]) -> str:
    """The string of the one field in focus after changes that do not meet."""
    words: list[str | None] = list(text.words)
    for start, end, new in changes:
        words[start:end] = [None] * (end - start)
        beside = min(start, len(words) - 1)
        own = words[beside] if start == end else None
        parts = [*new, own] if start < len(words) else [own, *new]
        words[beside] = " ".join(part for part in parts if part is not None) or None
    (field,) = text.with_words(words).explained
    return field.string
