"""Tables 3 and A2: which explanations mark the words that people marked, and how many words they mark.

One threshold for each method, the best for IoU on the texts it is reported on, as in the paper; the line below has the
IoU on other texts than those it was tuned on. Right predictions only. F1 is that of mean precision and mean recall.
How much the masked language model of LIME_BERT_SST2 gained on dev is told in shares of words that it puts back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import numpy as np

from assay.checks.human_agreement import HumanAgreement
from assay.data.highlights import Highlights
from assay.explanations.token_scores import TokenScores
from assay.statistics.arrays import Floats
from assay_studies.claims import Claim, all_of, higher, lower, not_better, told
from assay_studies.double_trouble.methods import FURTHER
from assay_studies.double_trouble.predictable_words import guess
from assay_studies.double_trouble.published import TABLE_3, TABLE_A2
from assay_studies.double_trouble.tasks import Task
from assay_studies.estimates import Statistic, difference, estimate, f1, mean, ratio
from assay_studies.findings import Part
from assay_studies.tables import NOTHING, Cell, Line, Table

Facts = dict[str, Floats]
_METRICS: Mapping[str, tuple[tuple[str, ...], Statistic]] = {
    "IoU": (("iou",), mean),
    "precision": (("precision",), mean),
    "recall": (("recall",), mean),
    "F1": (("precision", "recall"), f1),
}
_GOLD = {
    "sst2": "SST, phrases that are clearly for the label (classes 0, 1 or 3, 4)",
    "sst2_strong": "SST, phrases that are strongly for the label (class 0 or 4)",
    "esnli": "e-SNLI",
    "multirc": "MultiRC",
}
_NOTES = {
    "sst2": "The paper marks phrases scored <= 0.3 or >= 0.7; the trees have five classes, of which 1 and 3 reach 0.4 "
    "and 0.6.",
    "sst2_strong": "The strongest classes alone mark fewer words than the paper does.",
    "esnli": "The file has one set of highlights for each pair, not three people; the published numbers are for words "
    "that at least two of three people marked (L2).",
    "multirc": "People marked whole sentences of the passage; words of the question and the answer are explained too.",
}
_FEWER = {"sst2": "SST", "multirc": "MultiRC"}  # where IM marks fewer words in the paper
_NO_FILLER = "LIME_BERT_SST2 was left out: --size mlm_train=20000 trains the masked language model that it needs."


def part(tasks: Iterable[Task]) -> Part:
    """Agreement with people on every dataset, and the share of words that is marked."""
    listed = list(tasks)
    found = {gold: _agreement(task, gold) for task in listed for gold in task.highlights}
    tables = [_table(gold, facts) for gold, facts in found.items()]
    claims = [claim for gold, facts in found.items() for claim in _claims(gold, facts)]
    title = "Table 3 and A2: agreement with what people marked"
    notes = tuple(_filler(task) for task in listed if task.name == "sst2")
    return Part("table_3", title, (*tables, _coverage(found)), (*claims, *_coverage_claims(found)), notes)


def _agreement(task: Task, gold: str) -> dict[str, Facts]:
    task.say(f"{task.title}: agreement with people ({gold})")
    further = ("LIME_BERT_SST2",) if task.sizes.mlm_train else ()
    limes = ("LIME", "LIME_BERT", *further) if task.name == "sst2" else ()
    methods = ("IM", "LOO_empty", *limes, "Random")
    return {name: _facts(task, task.maps(name), task.highlights[gold]) for name in methods}


def _filler(task: Task) -> str:
    """How well the masked language model knows the sentences, before and after it was trained further."""
    if not task.sizes.mlm_train:
        return _NO_FILLER
    before, after = (_put_back(task, model) for model in ("mlm", FURTHER))
    return (
        f"The masked language model of LIME_BERT_SST2 learned sentences of SST-2 train, {task.sizes.mlm_train:,} at "
        f"most: it puts {after} % of the words of dev back, before that {before} %."
    )


def _put_back(task: Task, model: str) -> str:
    guesses = task.ask(guess(case, model) for case in task.cases)
    share = estimate(np.array([[100 * g.match.sum(), len(g.match)] for g in guesses]), ratio)
    return share.shown(1) if share else NOTHING


def _facts(task: Task, maps: list[TokenScores], gold: Highlights) -> Facts:
    """What is measured on each text; `held_out` is the IoU at a threshold that was tuned on other texts."""
    same, other = _measured(task, maps, gold, "same"), _measured(task, maps, gold, "held_out")
    return {**same, "held_out": other["iou"]}


def _measured(task: Task, maps: list[TokenScores], gold: Highlights, tuned_on: Literal["same", "held_out"]) -> Facts:
    check = HumanAgreement(highlights=gold, metric="iou", tuned_on=tuned_on).prepare(maps)
    told = task.ask(check.examine(e) for e in maps if check.uses(e))
    return {name: np.array([one.facts[name] for one in told]) for name in told[0].facts}


def columns(facts: Facts, metric: str) -> tuple[Floats, Statistic]:
    """What a metric is computed from."""
    names, statistic = _METRICS[metric]
    return np.stack([facts[name] for name in names], axis=1), statistic


def _table(gold: str, found: Mapping[str, Facts]) -> Table:
    extra = ("LIME_BERT_SST2",) if gold == "sst2" and "LIME_BERT_SST2" not in found else ()
    methods = (*found, *extra)
    lines = [Line(metric, tuple(_cell(gold, found, metric, m) for m in methods)) for metric in _METRICS]
    held = [Cell(estimate(found[m]["held_out"]) if m in found else None) for m in methods]
    at = [Cell(estimate(found[m]["threshold"]) if m in found else None) for m in methods]
    lines += [Line("IoU, threshold tuned on other texts", tuple(held)), Line("threshold", tuple(at))]
    title = f"Table 3: agreement with people, {_GOLD[gold]}"
    return Table(f"table_3_{gold}", title, methods, tuple(lines), "higher", 3, (_NOTES[gold],))


def _cell(gold: str, found: Mapping[str, Facts], metric: str, method: str) -> Cell:
    published = TABLE_3.get((gold, metric), {}).get(method, "")
    return Cell(estimate(*columns(found[method], metric)) if method in found else None, published)


def _claims(gold: str, found: Mapping[str, Facts]) -> Iterator[Claim]:
    gains = {m: difference(*_two(found, "LOO_empty", "IM", m), columns(found["IM"], m)[1]) for m in ("IoU", "F1")}
    yield Claim(
        f"{_GOLD[gold]}: LOO_empty agrees better with people than IM, in IoU and F1 (Table 3)",
        all_of(map(higher, gains.values())),
        told({f"LOO_empty - IM in {m}": d for m, d in gains.items()}),
    )
    for name in ("LIME_BERT", "LIME_BERT_SST2"):
        if name in found:
            gain = difference(found[name]["iou"], found["LIME"]["iou"])
            yield Claim(
                f"{_GOLD[gold]}: {name} does not agree better with people than LIME (section 6.1)",
                not_better(gain),
                told({f"{name} - LIME in IoU": gain}),
            )


def _two(found: Mapping[str, Facts], one: str, other: str, metric: str) -> tuple[Floats, Floats]:
    return columns(found[one], metric)[0], columns(found[other], metric)[0]


def _coverage(found: Mapping[str, Mapping[str, Facts]]) -> Table:
    golds = tuple(found)
    ways = {"LOO_empty": "marked", "IM": "marked", "Human": "human"}
    lines = []
    for who, fact in ways.items():
        shares = [100 * found[gold]["IM" if who == "Human" else who][fact] for gold in golds]
        cells = zip(shares, golds, strict=True)
        lines.append(Line(who, tuple(Cell(estimate(s), TABLE_A2[who].get(g, "")) for s, g in cells)))
    return Table("table_a2", "Table A2: per cent of the words that are marked", golds, tuple(lines), "", 1)


def _coverage_claims(found: Mapping[str, Mapping[str, Facts]]) -> Iterator[Claim]:
    for gold, title in _FEWER.items():
        if gold in found:
            fewer = difference(found[gold]["IM"]["marked"], found[gold]["LOO_empty"]["marked"])
            yield Claim(
                f"{title}: at its best threshold IM marks fewer words than LOO_empty (Table A2)",
                lower(fewer),
                told({"IM - LOO_empty, share of words": fewer}),
            )
