"""The texts of SST-2 and of e-SNLI, and what people marked in them, from the files of the data directory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from assay.data import esnli, sst
from assay.data.highlights import Highlights
from assay.text.example import Example
from assay_studies.request import Request
from assay_studies.samples import spread

LAYOUT = "sst2/dev.tsv, sst/trees/dev.txt, esnli/dev_human_highlights_from_im.jsonl and esnli_dev_test_nile/dev.tsv.xz"


class Read(NamedTuple):
    """The texts of a dataset, what people marked in them, and what is to be said about them."""

    examples: list[Example]
    highlights: dict[str, Highlights]
    notes: tuple[str, ...] = ()


def sst2(request: Request, count: int) -> Read:
    examples = spread(list(sst.glue(request.file("sst2/dev.tsv", LAYOUT))), count)
    trees = request.file("sst/trees/dev.txt", LAYOUT)
    gold = {"sst2": _lowered(sst.read(trees), "SST"), "sst2_strong": _lowered(sst.read(trees, clear=2), "SST, strong")}
    return Read(examples, gold)


def e_snli(request: Request, count: int) -> Read:
    """Pairs that two labels people highlighted in the file of the authors, and the neutral ones of another file."""
    rows = list(esnli.tokens(request.file("esnli/dev_human_highlights_from_im.jsonl", LAYOUT)))
    more = list(esnli.starred(request.file("esnli_dev_test_nile/dev.tsv.xz", LAYOUT)))
    neutral = [row for row in more if row.label == "neutral"]
    listed = sorted((*rows, *neutral), key=lambda row: int(row.id))
    gold = {
        "esnli": Highlights.of(listed, "e-SNLI"),
        "esnli_l3": Highlights.of((row for row in (*rows, *more) if row.label != "neutral"), "e-SNLI, both files"),
    }
    note = f"e-SNLI: of {len(rows):,} highlighted pairs of the authors' file and {len(neutral):,} neutral ones."
    return Read(spread(listed, count), gold, (note,))


def _lowered(examples: Iterable[Example], name: str) -> Highlights:
    """GLUE has the sentences of the treebank in small letters."""
    small = (replace(e, strings=tuple(string.lower() for string in e.strings)) for e in examples)
    return Highlights.of((e for e in small), name)
