"""Labelled texts, read once for all tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from assay.errors import BadInput, EmptyText
from assay.text.example import Example
from assay.text.labelled import LabelledTexts, require_learnable
from assay.text.sample import Sample
from assay.text.text import Text, TextLike

Labelled = tuple[TextLike, str] | Example


class Splits(NamedTuple):
    """What is learned from, what the epoch is chosen by, and what is tested on."""

    train: LabelledTexts
    dev: LabelledTexts | None
    test: LabelledTexts


def splits(
    train: Sequence[Labelled] | Sample, dev: Sequence[Labelled] | Sample | None, test: Sequence[Labelled] | Sample
) -> Splits:
    """Labels of dev and test are known from train; every text has a word to attend to."""
    read = Splits(_read("train", train), None if dev is None else _read("dev", dev), _read("test", test))
    parts = [part for part in read if part is not None]
    require_learnable(*parts)
    if len({len(row) for part in parts for row in part.strings}) > 1:
        raise BadInput("the texts of train, dev and test must all be single strings, or all be pairs.")
    return read


def _read(name: str, given: Any) -> LabelledTexts:
    found = LabelledTexts.of(given, name)
    for i, strings in enumerate(found.strings, start=1):
        if not Text.of(strings[0]).words:
            raise EmptyText(f"row {i} of {name} has no word to attend to.")
    return found
