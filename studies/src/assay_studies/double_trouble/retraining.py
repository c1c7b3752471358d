"""Table 2: what models still learn without the words that a method ranks highest (ROAR, ROAR_BERT).

On so many sentences and phrases of SST-2 train as `roar_train` says, evenly spread, with `roar_seeds` models each, and
the dev set of the study. Retraining is most of the work of the paper, so none is done unless it is asked for. The
intervals are those of the mean over models (Student's t), p is that of the two-sample t-test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.data import sst
from assay.methods.input_features.input_marginalization import InputMarginalization
from assay.methods.input_features.leave_one_out import LeaveOneOut
from assay.workflows.roar import roar
from assay.workflows.roar.result import RoarResult, interval
from assay_studies.claims import Claim
from assay_studies.double_trouble.methods import FURTHER
from assay_studies.double_trouble.published import TABLE_2
from assay_studies.double_trouble.tasks import Task, spread
from assay_studies.estimates import Estimate
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

_TITLE = "Table 2: accuracy in per cent after retraining without the best words"
_LEFT_OUT = (
    "Table 2 (ROAR) was left out: it takes hundreds of retrained models; `--size roar_train=6000` makes it with 6,000 "
    "training texts."
)
_METHODS = (LeaveOneOut(), InputMarginalization())
ERASERS = {"ROAR": "delete", "ROAR_BERT": "resample", "ROAR_BERT_SST2": f"resample:{FURTHER}"}
_METRICS = ("ROAR", "ROAR_BERT")
_NAMES = {"LOO_empty": "leave_one_out", "IM": "input_marginalization", "Random": "random"}
SURE = 0.05


def part(tasks: Iterable[Task]) -> Part:
    """The accuracies, and whether IM does better than LOO_empty anywhere."""
    task = next(task for task in tasks if task.name == "sst2")
    if not task.sizes.roar_train or task.train is None:
        return Part("table_2", _TITLE, notes=(_LEFT_OUT,))
    found = {metric: retrained(task, metric, _METHODS, place(task, metric)) for metric in _METRICS}
    shares = found["ROAR"].shares
    columns = tuple(f"{metric} {share:.0%}" for metric in _METRICS for share in shares)
    lines = tuple(Line(name, tuple(_cells(found, name))) for name in _NAMES)
    whole = 100 * sum(found["ROAR"].whole) / len(found["ROAR"].whole)
    notes = (f"Nothing removed: {whole:.2f} (published 92.62 ± 0.30). {size(task)}",)
    table = Table("table_2", _TITLE, columns, lines, "lower", 2, notes)
    return Part("table_2", _TITLE, (table,), tuple(_claims(found)))


def place(task: Task, metric: str) -> Path:
    """Where the run of Table 2 lies."""
    return task.kept.out / metric.lower()


def retrained(task: Task, metric: str, methods: Sequence[Any], out: Path) -> RoarResult:
    task.say(f"{task.title}: retraining for {metric}")
    assert task.train is not None
    return roar(
        None,
        spread(list(sst.glue(task.train)), task.sizes.roar_train),
        list(task.examples),
        methods,
        trainer=task.trainer,
        out=out,
        engine=task.engine,
        progress=task.progress,
        eraser=ERASERS[metric],
        seeds=task.sizes.roar_seeds,
        variant="released",
    )


def size(task: Task) -> str:
    return f"{task.sizes.roar_seeds} models each, trained on {task.sizes.roar_train:,} texts of SST-2 train."


def _cells(found: Mapping[str, RoarResult], name: str) -> Iterator[Cell]:
    for metric, result in found.items():
        for share, published in zip(result.shares, TABLE_2[metric, name], strict=True):
            yield Cell(accuracy(result, _NAMES[name], share), published)


def accuracy(result: RoarResult, method: str, share: float) -> Estimate:
    models = result.at(method, share)
    low, high = interval(models.accuracies, result.texts)
    return Estimate(100 * models.mean, 100 * low, 100 * high, len(models.accuracies))


def _claims(found: Mapping[str, RoarResult]) -> Iterator[Claim]:
    im, loo = _NAMES["IM"], _NAMES["LOO_empty"]
    tests = [(metric, q, _gap(r, q), r.p(im, loo, q)) for metric, r in found.items() for q in r.shares]
    said = "; ".join(f"{metric} {q:.0%}: IM - LOO_empty {gap:+.2f}, p = {p:.3f}" for metric, q, gap, p in tests)
    better = any(gap < 0 and p <= SURE / len(tests) for _, _, gap, p in tests)
    yield Claim("SST-2: under ROAR and ROAR_BERT IM is not better than LOO_empty (section 5.1)", not better, said)
    verdicts = [(metric, v) for metric, result in found.items() for v in result.verdicts()]
    lost = [f"{metric} {v.method} {v.share:.0%}" for metric, v in verdicts if not v.better_than_random]
    yield Claim(
        "SST-2: both do better than random words (Table 2)",
        not lost or None,
        f"not surely better: {', '.join(lost)}" if lost else f"all {len(verdicts)} comparisons, p <= {SURE:g}",
    )


def _gap(result: RoarResult, share: float) -> float:
    return 100 * (result.at(_NAMES["IM"], share).mean - result.at(_NAMES["LOO_empty"], share).mean)
