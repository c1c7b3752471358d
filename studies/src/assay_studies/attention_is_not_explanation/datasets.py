"""Table 1 of both papers: the datasets as they are here, beside those of the first paper.

Words are those of the vocabulary that models learn, of the training texts alone; the length is that of what is attended
to: a text, the story of a question, a premise. Where there are classes, sizes are given for each.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.models.own.attentive import words
from assay.statistics.intervals import estimate
from assay_studies.attention_is_not_explanation.published import TABLE_1
from assay_studies.attention_is_not_explanation.tasks import RECIPES, TITLES
from assay_studies.data.jain_wallace import Split
from assay_studies.tables import Cell, Line, Table

_COLUMNS = ("words", "mean length", "training texts", "dev texts", "test texts")


def table(splits: Mapping[str, Split]) -> Table:
    lines = tuple(Line(TITLES[name], _cells(name, split)) for name, split in splits.items())
    return Table("datasets", "Table 1: the datasets", _COLUMNS, lines, digits=1, drawn="not")


def notes(splits: Mapping[str, Split]) -> tuple[str, ...]:
    """What differs from the paper's data."""
    return tuple(f"{TITLES[name]}: {note}" for name, split in splits.items() for note in split.notes)


def _cells(name: str, split: Split) -> tuple[Cell, ...]:
    paper = TABLE_1[name]
    rows = [example.strings for example in split.train]
    lengths = np.array([len(row[0].split()) for row in rows], dtype=np.float64)
    return (
        Cell(counted=f"{len(words(rows, rarest=RECIPES[name].rarest).get_vocab())}", published=f"{paper.vocabulary}"),
        Cell(estimate(lengths), f"{paper.length}"),
        Cell(counted=split.sizes("train"), published=_each(paper.train)),
        Cell(counted=split.sizes("dev")),
        Cell(counted=split.sizes("test"), published=_each(paper.test)),
    )


def _each(sizes: tuple[int, ...]) -> str:
    return " / ".join(map(str, sizes))
