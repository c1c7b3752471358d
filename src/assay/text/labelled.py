"""Labelled texts in memory, as mending takes them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

from assay.text.example import Example, text_of
from assay.text.sample import Sample
from assay.text.text import Row


@dataclass(frozen=True)
class LabelledTexts:
    """Texts as tuples of one string or of two, and their labels; `name` says which part of the data this is."""

    name: str
    strings: list[Row]
    labels: list[str]

    @classmethod
    def of(cls, source: Any, name: str) -> LabelledTexts:
        """All rows of what Sample.of takes: a list of pairs (text, label) or Examples, a Sample with labels."""
        rows = list(Sample.of(source, name=name).require_rows().require_labels())
        return cls(name, [row.strings for row in rows], [str(row.label) for row in rows])

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def texts(self) -> list[str | tuple[str, str]]:
        """As the verbs take them."""
        return list(map(text_of, self.strings))

    @cached_property
    def digest(self) -> str:
        """The digest of a sample of these rows."""
        digest = blake2b(digest_size=16)
        for strings, label in zip(self.strings, self.labels, strict=True):
            digest.update(Example("", strings, label).content())
        return digest.hexdigest()
