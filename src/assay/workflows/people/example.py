"""A text that input reduction made shorter, as the tasks for people need it: what is shown, what is right."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from assay.explanations.edits import Edits
from assay.text.text import Row, Text


@dataclass(frozen=True)
class TaskText:
    """A text, the strings that are left of it, how many of its words these hold, and the right answer.

    `choices` are the labels to choose from; without any, people answer in their own words, as they do to a question
    about a context. `row` is its place in what the user gave, from 1 on.
    """

    row: int
    text: Text
    reduced: Row
    length: int
    label: str
    choices: tuple[str, ...] = ()

    @classmethod
    def of(cls, row: int, e: Edits, gold: str | None = None) -> TaskText:
        """From what `input_reduction` tells; without a gold label the model's own answer counts as right."""
        free = any(field.part == "note" for field in e.text.fields)
        last, choices = e.edits[-1], () if free else tuple(e.about.labels)
        return cls(row, e.text, last.strings, len(last.kept), gold or e.label, choices)

    @property
    def whole(self) -> dict[str, str]:
        return shown(self.text)

    @property
    def short(self) -> dict[str, str]:
        return dict(zip(self.whole, self.reduced, strict=True))


def shown(text: Text) -> dict[str, str]:
    """The strings by the names of their fields, as a model reads them: without the answer that may be noted there."""
    return {field.name: field.string for field in text.read.fields}


def digest(*parts: str) -> str:
    """Ten signs that stand for these strings."""
    return blake2b("\x1f".join(parts).encode(), digest_size=5).hexdigest()
