"""The texts of the study, with what people wrote about them.

esnli   SNLI test, pairs whose premise no bundled model saw: three human explanations each, and NILE's for each label
        (Kumar and Talukdar 2020, arXiv:2005.12116), in esnli_dev_test_nile/test.tsv.xz
cose    CommonsenseQA dev 1.0 with CoS-E's explanations: cose/v1.0/dev_rand_split.jsonl and cose_dev_v1.0.jsonl
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import NamedTuple

from assay.data.esnli import LABELS
from assay.data.files import Record, objects, table
from assay.text.text import TextLike
from assay_studies.request import Request

LAYOUT = (
    "esnli_dev_test_nile/test.tsv.xz (esnli), and cose/v1.0/dev_rand_split.jsonl and cose/v1.0/cose_dev_v1.0.jsonl "
    "(cose); a dataset of size 0 needs no files"
)
_COLUMNS = ("pair", "gold", "premise", "hypothesis", "one", "two", "three", "_", "_", *LABELS[::2], LABELS[1])


@dataclass(frozen=True)
class Question:
    """A text, the right answer among the choices, what people wrote, and what another writer wrote for each choice."""

    text: TextLike
    answer: int
    choices: tuple[str, ...]
    human: tuple[str, ...]
    other_writer: Mapping[str, str] = field(default_factory=dict)


class Dataset(NamedTuple):
    """Where its questions come from, and what it is called."""

    title: str
    read: Callable[[Request], Iterator[Question]]


def _esnli(request: Request) -> Iterator[Question]:
    clean: Callable[[str, str], bool] = import_module("assay_zoo.heldout").is_clean_snli_premise
    for row in table(request.file("esnli_dev_test_nile/test.tsv.xz", LAYOUT), _COLUMNS, tabs=True):
        human = tuple(filter(None, (row.string(name).strip() for name in ("one", "two", "three"))))
        gold, premise = row.string("gold"), row.string("premise")
        if gold in LABELS and human and clean(premise, "test"):
            nile = {label: row.string(label) for label in LABELS}
            pair = {"premise": premise, "hypothesis": row.string("hypothesis")}
            yield Question(pair, LABELS.index(gold), LABELS, human, nile)


def _cose(request: Request) -> Iterator[Question]:
    reasons = {row.string("id"): row for row in objects(request.file("cose/v1.0/cose_dev_v1.0.jsonl", LAYOUT))}
    for row in objects(request.file("cose/v1.0/dev_rand_split.jsonl", LAYOUT)):
        if (known := reasons.get(row.string("id"))) is not None and (said := _said(known)):
            yield _choice(row, said)


def _said(row: Record) -> str:
    return row.record("explanation").string("open-ended").strip()


def _choice(row: Record, said: str) -> Question:
    asked, key = row.record("question"), row.string("answerKey")
    choices = asked.records("choices")
    right = [i for i, one in enumerate(choices) if one.string("label") == key]
    if not right:
        row.place.refuse(f"no choice is called {key!r}")
    return Question(asked.string("stem"), right[0], tuple(one.string("text") for one in choices), (said,))


DATASETS = {"esnli": Dataset("e-SNLI", _esnli), "cose": Dataset("CommonsenseQA", _cose)}
