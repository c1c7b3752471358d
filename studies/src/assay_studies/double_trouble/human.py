"""Tables 3 and A2: which explanations mark the words that people marked, and how many words they mark.

One threshold for each method, the best for IoU on the texts it is reported on, as in the paper; the line below has the
IoU on other texts than those it was tuned on. Right predictions only. F1 is that of mean precision and mean recall.
How much the masked language model of LIME_BERT_SST2 gained on dev is given in shares of words that it puts back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from assay.checks.human_agreement import HumanAgreement
from assay.data.highlights import Highlights
from assay.statistics.arrays import Floats
from assay.statistics.intervals import Statistic, f1, mean
from assay.verdicts.concluding import VerdictBuilder
from assay_studies.claims import Claim, Evidence, claim, higher, lower, not_better
from assay_studies.double_trouble.methods import FURTHER
from assay_studies.double_trouble.predictable_words import guess, put_back
from assay_studies.double_trouble.tasks import PAPER, Task
from assay_studies.rules import Rule
from assay_studies.specification import PartSpec, Subject, TableSpec, Values
from assay_studies.tables import NOTHING

Facts: TypeAlias = Mapping[str, Floats]
TunedOn: TypeAlias = Literal["same", "held_out"]
_METRICS: Mapping[str, tuple[tuple[str, ...], Statistic]] = {  # which facts of a text, and what is made of their means
    "IoU": (("iou",), mean),
    "precision": (("precision",), mean),
    "recall": (("recall",), mean),
    "F1": (("precision", "recall"), f1),
    "held_out": (("held_out",), mean),
    "threshold": (("threshold",), mean),
}
_ROWS = {**dict(zip(_METRICS, _METRICS, strict=True)), "held_out": "IoU, threshold tuned on other texts"}
_TUNED: Mapping[str, TunedOn] = {"IoU": "same", "held_out": "held_out"}
_GOLD = {
    "sst2": "SST, clear phrases",
    "sst2_strong": "SST, strong phrases",
    "esnli": "e-SNLI",
    "esnli_l3": "e-SNLI, words that both files mark",
    "multirc": "MultiRC",
}
_PEOPLE = {"esnli_l3": 2}  # how many must have marked a word, where it is not one
_NOTES = {
    "sst2": "Words of phrases that are clearly for the label: classes 0, 1 or 3, 4 of the trees' five. The paper marks "
    "phrases scored <= 0.3 or >= 0.7; classes 1 and 3 reach 0.4 and 0.6.",
    "sst2_strong": "Words of phrases of class 0 or 4 alone: fewer than the paper marks.",
    "esnli": "The files have one set of highlights for each pair, not three people; the published numbers are for "
    "words that at least two of three people marked (L2).",
    "esnli_l3": "Entailment and contradiction only: words marked in the authors' file and by the person of the other "
    "file. The published numbers are for words that all three people marked (L3).",
    "multirc": "People marked whole sentences of the passage; words of the question and the answer are explained too.",
}
_FEWER = {"sst2": "SST", "multirc": "MultiRC"}  # where IM marks fewer words in the paper
_FILLED = "LIME_BERT_SST2"
_NO_FILLER = "LIME_BERT_SST2 was left out: --size mlm_train=20000 trains the masked language model that it needs."


def _measure(tasks: Sequence[Task]) -> Iterator[Subject]:
    """Agreement with people on every set of highlights."""
    for task in tasks:
        limes = ("LIME", "LIME_BERT", *((_FILLED,) if task.sizes.mlm_train else ())) if task.name == "sst2" else ()
        for gold, highlights in task.highlights.items():
            task.say(f"{task.title}: agreement with people ({gold})")
            methods = ("IM", "LOO_empty", *limes, "Random")
            people = _PEOPLE.get(gold, 1)
            found = {_ROWS[row]: _judged(task, methods, highlights, by, people) for row, by in _TUNED.items()}
            facts = {name: _facts(*(found[_ROWS[row]][name] for row in _TUNED)) for name in methods}
            verdicts = {f"{r}, {name}": of.verdict() for r, known in found.items() for name, of in known.items()}
            told = {"unfair": _unfair(task)}
            yield Subject(gold, _GOLD[gold], _measures(facts), (_NOTES[gold],), told, verdicts)


def _unfair(task: Task) -> str:
    """LIME_BERT costs a question to a masked language model for each sample; one with fewer is no fair comparison."""
    few, many = task.sizes.lime_bert_samples, task.sizes.lime_samples
    return f"LIME_BERT drew {few:,} samples, LIME {many:,}" if few != many else ""


def _judged(
    task: Task, methods: Sequence[str], gold: Highlights, tuned_on: TunedOn, people: int
) -> dict[str, VerdictBuilder]:
    check = HumanAgreement(highlights=gold, metric="iou", tuned_on=tuned_on, people=people)
    return {name: task.judge(check, task.maps(name)) for name in methods}


def _facts(same: VerdictBuilder, other: VerdictBuilder) -> Facts:
    """What is measured on each text; `held_out` is the IoU at a threshold that was tuned on other texts."""
    return {**{name: np.array(of) for name, of in same.facts.items()}, "held_out": np.array(other.facts["iou"])}


def _measures(found: Mapping[str, Facts]) -> dict[tuple[str, ...], Values]:
    measures: dict[tuple[str, ...], Values] = {
        (metric, method): Values(np.stack([facts[name] for name in names], axis=1), statistic)
        for metric, (names, statistic) in _METRICS.items()
        for method, facts in found.items()
    }
    marked = {("LOO_empty",): found["LOO_empty"]["marked"], ("IM",): found["IM"]["marked"]}
    shares = {**marked, ("Human",): found["IM"]["human"]}
    return {**measures, **{who: Values(100 * of) for who, of in shares.items()}}


def _methods(subject: Subject) -> tuple[str, ...]:
    """Those that were measured; what is published for the one that needs training is shown even where it was not."""
    filled = (_FILLED,) if subject.name == "sst2" else ()
    return tuple(dict.fromkeys((*(key[1] for key in subject.measures if len(key) == 2), *filled)))


def _tables(subjects: Sequence[Subject]) -> Iterator[TableSpec]:
    yield TableSpec(
        name="table_3_{name}",
        title="Table 3: agreement with people, {title}",
        rows=_ROWS,
        columns=_methods,
        layout="tables",
        better="higher",
        published="table_3",
    )
    yield TableSpec(
        name="table_a2",
        title="Table A2: per cent of the words that are marked",
        rows=("LOO_empty", "IM", "Human"),
        columns=tuple(subject.name for subject in subjects),
        digits=1,
    )


def _agreement_claims(subject: Subject) -> Iterator[Claim]:
    yield claim(
        f"{subject.title}: LOO_empty agrees better with people than IM, in IoU and F1 (Table 3)",
        *(_gap(subject, f"LOO_empty - IM in {m}", m, ("LOO_empty", "IM"), higher) for m in ("IoU", "F1")),
        key="people",
        about=subject.title,
    )
    for name in ("LIME_BERT", _FILLED):
        if ("IoU", name) in subject:
            yield claim(
                f"{subject.title}: {name} does not agree better with people than LIME, in IoU, precision and F1 "
                "(section 6.1)",
                *(
                    replace(
                        _gap(subject, f"less LIME, in {m}", m, (name, "LIME"), not_better),
                        aside=subject.facts.get("unfair", ""),
                    )
                    for m in ("IoU", "precision", "F1")
                ),
                key="people_lime",
                about=f"{subject.title}, {name}",
            )


def _gap(subject: Subject, name: str, metric: str, methods: tuple[str, str], rule: Rule) -> Evidence:
    """How much better the first method agrees with people, here and in the paper."""
    one, other = methods
    line = f"{subject.name}, {metric}"
    printed = PAPER.gap("table_3", (line, one), (line, other))
    return Evidence(name, subject.gap((metric, one), (metric, other)), rule, printed)


def _coverage_claims(subject: Subject) -> Iterator[Claim]:
    if subject.name in _FEWER:
        fewer = Values(subject.values("IM").columns / 100) - Values(subject.values("LOO_empty").columns / 100)
        yield claim(
            f"{_FEWER[subject.name]}: at its best threshold IM marks fewer words than LOO_empty (Table A2)",
            Evidence("IM - LOO_empty, share of words", fewer, lower),
            key="coverage",
            about=_FEWER[subject.name],
        )


def _notes(tasks: Sequence[Task]) -> Iterator[str]:
    """How well the masked language model knows the sentences, before and after it was trained further."""
    for task in tasks:
        if task.name != "sst2":
            continue
        if not task.sizes.mlm_train:
            yield _NO_FILLER
            continue
        before, after = (_put_back(task, model) for model in ("mlm", FURTHER))
        yield (
            f"The masked language model of LIME_BERT_SST2 learned sentences of SST-2 train, {task.sizes.mlm_train:,} "
            f"at most: it puts {after} % of the words of dev back, before that {before} %."
        )


def _put_back(task: Task, model: str) -> str:
    share = put_back(task.ask(guess(case, model) for case in task.cases)).estimate()
    return share.shown(1) if share else NOTHING


PART = PartSpec(
    name="table_3",
    title="Table 3 and A2: agreement with what people marked",
    measure=_measure,
    tables=_tables,
    claims=[_agreement_claims, _coverage_claims],
    notes=_notes,
    published=PAPER,
)
