"""Table 1 of both papers: the datasets as they are here, beside those of the first paper.

Words are those of the vocabulary that models learn, of the training texts alone; the length is that of what is attended
to: a text, the story of a question, a premise. Where there are classes, sizes are given for each.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.models.own.attentive import words
from assay_studies.attention_is_not_explanation.tasks import RECIPES, TITLES
from assay_studies.data.jain_wallace import Split
from assay_studies.specification import Key, Quantity, TableSpec, Values
from assay_studies.tables import Cell

TABLE = TableSpec(
    name="datasets",
    title="Table 1: the datasets",
    columns=("words", "mean length", "training texts", "dev texts", "test texts"),
    layout="rows",
    digits=1,
    drawn="not",
)


def measures(name: str, split: Split) -> dict[Key, Quantity]:
    """By the columns of the table."""
    rows = [example.strings for example in split.train]
    lengths = np.array([len(row[0].split()) for row in rows], dtype=np.float64)
    return {
        "words": Cell(counted=f"{len(words(rows, rarest=RECIPES[name].rarest).get_vocab())}"),
        "mean length": Values(lengths),
        "training texts": Cell(counted=split.sizes("train")),
        "dev texts": Cell(counted=split.sizes("dev")),
        "test texts": Cell(counted=split.sizes("test")),
    }


def notes(splits: Mapping[str, Split]) -> tuple[str, ...]:
    """What differs from the paper's data."""
    return tuple(f"{TITLES[name]}: {note}" for name, split in splits.items() for note in split.notes)
