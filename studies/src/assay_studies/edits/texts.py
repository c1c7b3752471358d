"""The texts of the study, with their labels and what people made of them, and the texts that judges learn from.

sst2      sentences of SST-2 dev; the judge learns from SST-2 train
imdb      film reviews of counterfactual_aug, dev and test, each with its revision for the other label; train
snli      pairs of counterfactual_aug whose premise no bundled model saw, with revised hypotheses for the other labels;
          the judge learns from a part of SNLI train
ag_news   news of AG News test; the judge learns from the rest of it

Revisions are those of Kaushik, Hovy and Lipton (2020), Learning the Difference that Makes a Difference with
Counterfactually-Augmented Data, arXiv:1909.12434: people changed as little as the other label needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

from assay.data.files import table
from assay.text.distance import edit_distance
from assay.text.text import Row
from assay_studies.data import ag_news, imdb
from assay_studies.request import Request

LAYOUT = (
    "sst2/{train,dev}.tsv, snli_train_subset/snli.tsv.xz, counterfactual_aug/{NLI,sentiment}/, imdb/train.jsonl.xz and "
    "ag_news/test.csv; a dataset of size 0 needs no files"
)
_LONGEST = 200  # words of a review: longer ones do not fit the window of the models whole
_NLI, _PARTS = "counterfactual_aug/NLI", ("train", "dev", "test")


@dataclass(frozen=True)
class LabelledText:
    """The strings of a text, its label, and what people made of it for another label."""

    strings: Row
    label: str
    revised: Row | None = None


class Dataset(NamedTuple):
    """What a dataset is called, which bundled model reads it, and its texts: those to edit, those of the judge."""

    title: str
    model: str
    fields: tuple[str, ...]
    read: Callable[[Request], Iterator[LabelledText]]
    learned_from: Callable[[Request, Sequence[LabelledText]], Iterator[LabelledText]]


def _sst2(request: Request, part: str) -> Iterator[LabelledText]:
    for row in table(request.file(f"sst2/{part}.tsv", LAYOUT), tabs=True):
        label = {"0": "negative", "1": "positive"}.get(row.string("label"))
        if label is None:
            row.place.refuse(f"the label must be 0 or 1, not {row.string('label')!r}")
        yield LabelledText((row.string("sentence").strip(),), label)


def _imdb(request: Request) -> Iterator[LabelledText]:
    for part in _PARTS[1:]:
        rows = table(request.file(f"counterfactual_aug/sentiment/combined/paired/{part}_paired.tsv", LAYOUT), tabs=True)
        found: dict[str, dict[str, str]] = {}
        for row in rows:
            found.setdefault(row.string("batch_id"), {})[row.string("Sentiment").lower()] = row.string("Text")
        originals = table(request.file(f"counterfactual_aug/sentiment/orig/{part}.tsv", LAYOUT), tabs=True)
        known = {row.string("Text") for row in originals}
        for pair in found.values():
            yield from _review(pair, known)


def _review(pair: dict[str, str], known: set[str]) -> Iterator[LabelledText]:
    """The original of two versions, with the other one, where it is not too long."""
    for label, other in (("negative", "positive"), ("positive", "negative")):
        text = pair.get(label, "")
        if text in known and other in pair and len(text.split()) <= _LONGEST:
            yield LabelledText((text,), label, (pair[other],))


def _snli(request: Request) -> Iterator[LabelledText]:
    clean = _clean()
    for part in _PARTS:
        revised: dict[str, list[LabelledText]] = {}
        for one in _pairs(request, f"{_NLI}/revised_hypothesis/{part}.tsv"):
            revised.setdefault(one.strings[0], []).append(one)
        for one in _pairs(request, f"{_NLI}/original/{part}.tsv"):
            if clean(one.strings[0]):
                yield LabelledText(one.strings, one.label, _closest(one, revised.get(one.strings[0], ())))


def _closest(one: LabelledText, revised: Sequence[LabelledText]) -> Row | None:
    """Of the revisions for other labels the smallest: a premise may have several hypotheses, each revised twice."""
    others = [new.strings for new in revised if new.label != one.label]
    words = one.strings[1].split()
    return min(others, key=lambda strings: edit_distance(words, strings[1].split()), default=None)


def _pairs(request: Request, name: str) -> Iterator[LabelledText]:
    for row in table(request.file(name, LAYOUT), tabs=True):
        yield LabelledText((row.string("sentence1"), row.string("sentence2")), row.string("gold_label"))


def _snli_train(request: Request) -> Iterator[LabelledText]:
    columns, clean = ("gold", "source", "premise", "hypothesis"), _clean()
    for row in table(request.file("snli_train_subset/snli.tsv.xz", LAYOUT), columns, tabs=True):
        if not clean(row.string("premise")):
            yield LabelledText((row.string("premise"), row.string("hypothesis")), row.string("gold"))


def _clean() -> Callable[[str], bool]:
    """Whether no bundled model saw a premise, of whichever part of SNLI it is."""
    known: Callable[[str, str], bool] = import_module("assay_zoo.heldout").is_clean_snli_premise
    return lambda premise: known(premise, "dev") and known(premise, "test")


def _ag_news(request: Request) -> Iterator[LabelledText]:
    for row in ag_news.published(request.file("ag_news/test.csv", LAYOUT)):
        yield LabelledText(row.strings, row.label or "")


def _others(request: Request, used: Sequence[LabelledText]) -> Iterator[LabelledText]:
    """The news that are not edited."""
    known = {one.strings for one in used}
    yield from (one for one in _ag_news(request) if one.strings not in known)


def _imdb_train(request: Request) -> Iterator[LabelledText]:
    for row in imdb.read(request.file("imdb/train.jsonl.xz", LAYOUT)):
        yield LabelledText(row.strings, (row.label or "").lower())


DATASETS = {
    "sst2": Dataset("SST-2", "sst2", ("text",), lambda r: _sst2(r, "dev"), lambda r, _: _sst2(r, "train")),
    "snli": Dataset("SNLI", "snli", ("premise", "hypothesis"), _snli, lambda r, _: _snli_train(r)),
    "ag_news": Dataset("AG News", "ag_news", ("text",), _ag_news, _others),
    "imdb": Dataset("IMDb", "sst2", ("text",), _imdb, lambda r, _: _imdb_train(r)),
}
