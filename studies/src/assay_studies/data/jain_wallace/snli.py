"""SNLI, the premise as the paragraph and the hypothesis as the question: snli_1.0/snli_1.0_{train,dev,test}.jsonl.

Where these are missing, snli_train_subset/snli.tsv.xz is learned from (36,381 pairs of SNLI train), and the pairs of
esnli/{s1,s2,labels}.{dev,test} are dev and test; without the subset, 85 % of the premises of SNLI dev are learned from
and 15 % are dev. Premises that are in the test pairs are left out of both. Pairs on whose label people did
not agree are left out. The labels stand in the order in which the paper's Table 1 counts them: 0 is neutral, 1
contradiction, 2 entailment. Bowman et al. (2015), arXiv:1508.05326.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from assay.data import esnli
from assay.text.example import Example
from assay_studies.data.jain_wallace.filters import Bounds
from assay_studies.data.jain_wallace.splits import SEED, SHARE, Part, Split, parted
from assay_studies.data.jain_wallace.tokens import tokenised

LABELS = ("neutral", "contradiction", "entailment")
BOUNDS = Bounds()
TABLE_1 = ("182764 / 183187 / 183416", "3219 / 3237 / 3368")
_SUBSET = "snli_train_subset/snli.tsv.xz"
_PART = "A part of SNLI's training pairs is learned from."
_NOTE = (
    "The training pairs of SNLI are not here: the model learns from 85 % of the premises of SNLI dev, dev is the rest."
)


def read(directory: Path) -> Split:
    whole = directory / "snli_1.0"
    if (whole / "snli_1.0_train.jsonl").exists():
        train, dev, test = (_agreed(esnli.snli(whole / f"snli_1.0_{part}.jsonl")) for part in ("train", "dev", "test"))
        return Split("snli", train, dev, test, LABELS, "nli")
    rows, test = (_agreed(esnli.pairs(directory / "esnli", part)) for part in ("dev", "test"))
    tested = {example.strings[0] for example in test}
    if (subset := directory / _SUBSET).exists():
        train = tuple(row for row in _agreed(esnli.tagged(subset)) if row.strings[0] not in tested)
        dev = tuple(row for row in rows if row.strings[0] not in tested)
        return Split("snli", train, dev, test, LABELS, "nli", notes=(_PART,))
    train, dev = _by_premise(rows, tested)
    return Split("snli", train, dev, test, LABELS, "nli", notes=(_NOTE,))


def _agreed(examples: Iterable[Example]) -> Part:
    return tuple(
        replace(example, strings=tuple(map(tokenised, example.strings))) for example in examples if example.label
    )


def _by_premise(examples: Part, test: set[str]) -> tuple[Part, Part]:
    """Train and dev, no premise in two parts."""
    premises = sorted({example.strings[0] for example in examples} - test)
    rest, taken = (set(part) for part in parted(premises, SHARE, SEED))
    train = tuple(example for example in examples if example.strings[0] in rest)
    return train, tuple(example for example in examples if example.strings[0] in taken)
