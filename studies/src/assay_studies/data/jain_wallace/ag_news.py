"""AG News, World (0) against Business (1), the description alone: ag_news/train.csv and test.csv.

Where train.csv is missing, ag_news/train_subset.jsonl is taken: fewer rows, not balanced, in which title and
description are one text, so that the training texts hold titles and the test texts none. A training text that ends
with the description of a test row is left out. Zhang, Zhao and LeCun (2015), arXiv:1509.01626.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from assay.text.example import Example
from assay_studies.data.ag_news import published
from assay_studies.data.ag_news import read as unparted
from assay_studies.data.jain_wallace.filters import Bounds
from assay_studies.data.jain_wallace.splits import Split, with_dev
from assay_studies.data.jain_wallace.tokens import tokenised

LABELS = ("World", "Business")
BOUNDS = Bounds()
TABLE_1 = ("30000 / 30000", "1900 / 1900")


def read(directory: Path) -> Split:
    folder = directory / "ag_news"
    test = tuple(_two(published(folder / "test.csv", titles=False)))
    notes: tuple[str, ...] = ()
    if (folder / "train.csv").exists():
        rows = list(_two(published(folder / "train.csv", titles=False)))
    else:
        rows, notes = _subset(folder / "train_subset.jsonl", {_words(example.strings[0]) for example in test})
    train, dev = with_dev(rows)
    return Split("ag_news", train, dev, test, LABELS, notes=notes)


def _subset(path: Path, tests: Container[tuple[str, ...]]) -> tuple[list[Example], tuple[str, ...]]:
    rows = list(_two(unparted(path)))
    clean = [example for example in rows if not _ends_with_one_of(example.strings[0], tests)]
    note = (
        f"The training texts are a subset of {len(rows)} rows and hold the titles, the test texts do not; "
        f"{len(rows) - len(clean)} training texts are left out because they end with a test text."
    )
    return clean, (note,)


def _two(examples: Iterable[Example]) -> Iterator[Example]:
    for example in examples:
        if example.label in LABELS:
            yield replace(example, strings=(tokenised(example.strings[0]),))


def _ends_with_one_of(text: str, endings: Container[tuple[str, ...]]) -> bool:
    words = _words(text)
    return any(words[start:] in endings for start in range(len(words)))


def _words(text: str) -> tuple[str, ...]:
    """Without the marks, which differ between copies of one article."""
    return tuple(word for word in text.split() if word.isalnum())
