"""Versions of a text with other words in some places: what searches for flips move between, and their edits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from assay.explanations.edits import Edit
from assay.statistics.arrays import Floats
from assay.text.text import Text
from assay.text.variants import Variants


@dataclass(frozen=True)
class WordVersion:
    """The words in the places of those of the whole text, and what the model says to them."""

    whole: Text
    words: tuple[str, ...]
    chances: tuple[float, ...] = ()
    fluency: float = 0.0  # the summed log-probability of the words put in, where a language model chose them

    @classmethod
    def of(cls, text: Text) -> WordVersion:
        return cls(text, text.words)

    @cached_property
    def changed(self) -> tuple[int, ...]:
        """The places where another word stands than in the whole text."""
        pairs = enumerate(zip(self.whole.words, self.words, strict=True))
        return tuple(i for i, (old, new) in pairs if old != new)

    @property
    def size(self) -> int:
        """How many words are new."""
        return len(self.changed)

    @property
    def text(self) -> Text:
        return self.whole.with_words(self.words)

    @property
    def string(self) -> str:
        """The field whose words these are, as it reads now."""
        fields = self.text.fields
        return next((field.string for field in fields if field.name in self.whole.focus), fields[0].string)

    def with_word(self, i: int, word: str, fluency: float = 0.0) -> WordVersion:
        """The same with one other word; what the model says to it is not known yet."""
        words = (*self.words[:i], word, *self.words[i + 1 :])
        return WordVersion(self.whole, words, fluency=self.fluency + fluency)

    def with_chances(self, chances: Floats) -> WordVersion:
        return replace(self, chances=tuple(chances.tolist()))

    def edit(self, flips: bool) -> Edit:
        """As the model read it, with what was replaced."""
        read = self.text.read
        edited = next((i for i, field in enumerate(read.fields) if field.name in read.focus), 0)
        old, new = self.whole.words, self.words
        kept = tuple(i for i in range(len(old)) if i not in self.changed)
        operations = tuple(("replace", i, old[i], new[i]) for i in self.changed)
        chances = {str(i): chance for i, chance in enumerate(self.chances)}
        return Edit(read.strings, chances, operations, kept, edited, flips)


def variants_of(text: Text, versions: Sequence[WordVersion]) -> Variants:
    """All versions of one text as rows of one question."""
    fill = np.array([version.words for version in versions], dtype=object).reshape(len(versions), len(text))
    return Variants(text, np.zeros(fill.shape, dtype=bool), fill)


def distinct(versions: Iterable[WordVersion], known: set[tuple[str, ...]]) -> list[WordVersion]:
    """Those whose words are not known yet, each once; they are known from now on."""
    found = []
    for version in versions:
        if version.words not in known:
            known.add(version.words)
            found.append(version)
    return found
