"""Table 2: what models still learn without the words that a method ranks highest (ROAR, ROAR_BERT).

On so many sentences and phrases of SST-2 train as `roar_train` says, evenly spread, with `roar_seeds` models each, and
the dev set of the study. Retraining is most of the work of the paper, so none is done unless it is asked for. The
intervals are those of the mean over models (Student's t), p is that of the two-sample t-test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.checks.roar import RoarResult
from assay.data import sst
from assay.methods.input_features.input_marginalization import InputMarginalization
from assay.methods.input_features.leave_one_out import LeaveOneOut
from assay.statistics.accuracies import interval
from assay.statistics.intervals import Estimate
from assay.statistics.verdict import Verdict
from assay.verdicts.sample_verbs import roar
from assay_studies.claims import Claim
from assay_studies.double_trouble.methods import FURTHER
from assay_studies.double_trouble.tasks import PAPER, Task, is_sst2
from assay_studies.samples import spread
from assay_studies.specification import PartSpec, Subject, TableSpec, on_each

ERASERS = {"ROAR": "delete", "ROAR_BERT": "resample", "ROAR_BERT_SST2": f"resample:{FURTHER}"}
SURE = 0.05
_TITLE = "Table 2: accuracy in per cent after retraining without the best words"
_LEFT_OUT = (
    "Table 2 (ROAR) was left out: it takes hundreds of retrained models; `--size roar_train=6000` makes it with 6,000 "
    "training texts."
)
_METRICS = ("ROAR", "ROAR_BERT")
_NAMES = {"LOO_empty": "leave_one_out", "IM": "input_marginalization", "Random": "random"}


def place(task: Task) -> Path:
    """Where all retrained models lie: those that several runs need are trained once."""
    return task.store.out / "retrained"


def retrained(task: Task, metric: str, methods: Sequence[Any]) -> RoarResult:
    task.say(f"{task.title}: retraining for {metric}")
    assert task.train is not None
    return roar(
        None,
        spread(list(sst.glue(task.train)), task.sizes.roar_train),
        list(task.examples),
        methods,
        trainer=task.trainer,
        out=place(task),
        engine=task.engine,
        progress=task.progress,
        eraser=ERASERS[metric],
        seeds=task.sizes.roar_seeds,
        variant="released",
    )


def accuracies(found: Mapping[str, RoarResult], names: Mapping[str, str]) -> dict[tuple[str, ...], Estimate]:
    """By the name of the method in the paper, metric and share of the words; `names` are those that runs have."""
    return {
        (name, metric, f"{share:.0%}"): _accuracy(result, method, share)
        for name, method in names.items()
        for metric, result in found.items()
        for share in result.shares
    }


def judged_accuracies(found: Mapping[str, RoarResult]) -> dict[str, Verdict]:
    """The verdicts by metric, share of the words and method."""
    known = [(metric, v) for metric, result in found.items() for v in result.verdicts()]
    return {f"{metric} {v.share:.0%}, {v.method}": v for metric, v in known}


def _accuracy(result: RoarResult, method: str, share: float) -> Estimate:
    models = result.at(method, share)
    low, high = interval(models.accuracies, result.texts)
    return Estimate(100 * models.mean, 100 * low, 100 * high, len(models.accuracies))


def size(task: Task) -> str:
    return f"{task.sizes.roar_seeds} models each, trained on {task.sizes.roar_train:,} texts of SST-2 train."


def accuracy_table(name: str, title: str) -> TableSpec:
    """Methods down; metrics and shares of the words across."""
    return TableSpec(
        name=name,
        title=title,
        rows=lambda subject: tuple(dict.fromkeys(key[0] for key in subject.measures)),
        columns=lambda subject: {key[1:]: " ".join(key[1:]) for key in subject.measures},
        layout="tables",
        better="lower",
        digits=2,
    )


def _measure(task: Task) -> Subject:
    methods = (LeaveOneOut(), InputMarginalization())
    found = {metric: retrained(task, metric, methods) for metric in _METRICS}
    whole = 100 * sum(found["ROAR"].whole) / len(found["ROAR"].whole)
    paper = PAPER.text("table_2", "sst2, nothing removed", "accuracy")
    notes = (f"Nothing removed: {whole:.2f} (published {paper}). {size(task)}",)
    facts, verdicts = {"found": found}, judged_accuracies(found)
    return Subject(task.name, task.title, accuracies(found, _NAMES), notes, facts, verdicts)


def _claims(subject: Subject) -> Iterator[Claim]:
    found: Mapping[str, RoarResult] = subject.facts["found"]
    im, loo = _NAMES["IM"], _NAMES["LOO_empty"]
    tests = [
        (metric, q, 100 * (r.at(im, q).mean - r.at(loo, q).mean), r.p(im, loo, q))
        for metric, r in found.items()
        for q in r.shares
    ]
    evidence = "; ".join(f"{metric} {q:.0%}: IM - LOO_empty {gap:+.2f}, p = {p:.3f}" for metric, q, gap, p in tests)
    better = any(gap < 0 and p <= SURE / len(tests) for _, _, gap, p in tests)
    yield Claim("SST-2: under ROAR and ROAR_BERT IM is not better than LOO_empty (section 5.1)", not better, evidence)
    verdicts = [(metric, v) for metric, result in found.items() for v in result.verdicts()]
    lost = [f"{metric} {v.method} {v.share:.0%}" for metric, v in verdicts if not v.better_than_random]
    yield Claim(
        "SST-2: both do better than random words (Table 2)",
        not lost or None,
        f"not surely better: {', '.join(lost)}" if lost else f"all {len(verdicts)} comparisons, p <= {SURE:g}",
    )


PART = PartSpec(
    name="table_2",
    title=_TITLE,
    measure=on_each(_measure),
    wants=is_sst2,
    left_out=lambda tasks: "" if tasks[0].sizes.roar_train and tasks[0].train else _LEFT_OUT,
    tables=[accuracy_table("table_2", _TITLE)],
    claims=[_claims],
    published=PAPER,
)
