"""Labelled texts, read once for all tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from assay.data.example import Example
from assay.errors import BadInput, EmptyText
from assay.text.text import Row, Text, TextLike

Labelled = tuple[TextLike, str] | Example


@dataclass(frozen=True)
class Split:
    """Texts as tuples of one string or of two, and their labels."""

    rows: list[Row]
    labels: list[str]

    @classmethod
    def of(cls, name: str, given: Sequence[Labelled]) -> Split:
        """Pairs (text, label) or Examples; each has a label, and a word to attend to."""
        if not given:
            raise BadInput(f"there are no texts in {name}.")
        pairs = [_pair(f"row {i} of {name}", row) for i, row in enumerate(given, start=1)]
        return cls([row for row, _ in pairs], [label for _, label in pairs])

    @property
    def data(self) -> tuple[list[Row], list[str]]:
        return self.rows, self.labels


class Splits(NamedTuple):
    """What is learned from, what the epoch is chosen by, and what is tested on."""

    train: Split
    dev: Split | None
    test: Split


def splits(train: Sequence[Labelled], dev: Sequence[Labelled] | None, test: Sequence[Labelled]) -> Splits:
    """Labels of dev and test are known from train."""
    read = Splits(Split.of("train", train), None if dev is None else Split.of("dev", dev), Split.of("test", test))
    known = set(read.train.labels)
    if len(known) < 2:
        raise BadInput("the texts of train have only one label; there is nothing to learn.")
    for name, split in zip(read._fields, read, strict=True):
        if split is not None and (unknown := sorted(set(split.labels) - known)):
            raise BadInput(f"the label {unknown[0]!r} is in {name} but not in train.")
    if len({len(row) for split in read if split is not None for row in split.rows}) > 1:
        raise BadInput("the texts of train, dev and test must all be single strings, or all be pairs.")
    return read


def _pair(where: str, row: Any) -> tuple[Row, str]:
    if isinstance(row, Example):
        row = row.text, row.label
    if not (isinstance(row, tuple | list) and len(row) == 2):
        raise BadInput(f"{where} is no pair (text, label) but {row!r:.60}.")
    text, label = row
    if not isinstance(label, str):
        raise BadInput(f"{where} needs a label that is a string, not {label!r:.40}.")
    read = Text.of(text)
    if not read.fields[0].spans:
        raise EmptyText(f"{where} has no word to attend to.")
    return read.strings, label
