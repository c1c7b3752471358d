"""Table 2: what models still learn without the words that a method ranks highest (ROAR, ROAR_BERT).

On so many sentences and phrases of SST-2 train as `roar_train` says, evenly spread, with `roar_seeds` models each, and
the dev set of the study. Retraining is most of the work of the paper, so none is done unless it is asked for. Three
epochs, as in the paper, but in batches of 128 at a rate of 2e-4 for its 32 and 2e-5: our encoder is a fifth of its
size. The intervals are those of the mean over models (Student's t), p is that of the two-sample t-test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from assay.checks.roar import RoarResult
from assay.methods.input_features.input_marginalization import InputMarginalization
from assay.methods.input_features.leave_one_out import LeaveOneOut
from assay.registry.protocols import Method
from assay.statistics.accuracies import freedom, interval, interval_of_difference
from assay.statistics.intervals import Estimate
from assay.statistics.verdict import Verdict
from assay_studies.claims import Claim, Evidence, claim, higher, lower
from assay_studies.double_trouble.methods import FURTHER
from assay_studies.double_trouble.roar_runs import runs_of
from assay_studies.double_trouble.tasks import PAPER, Task, is_sst2
from assay_studies.rules import Rule
from assay_studies.specification import PartSpec, Subject, TableSpec, on_each

ERASERS = {"ROAR": "delete", "ROAR_BERT": "resample", "ROAR_BERT_SST2": f"resample:{FURTHER}"}
_TITLE = "Table 2: accuracy in per cent after retraining without the best words"
_LEFT_OUT = (
    "Table 2 (ROAR) was left out: it takes hundreds of retrained models; `--size roar_train=6000` makes it with 6,000 "
    "training texts."
)
METRICS = {"ROAR": "roar_deleted", "ROAR_BERT": "roar_filled"}  # each with the size that leaves it out
_NAMES = {"LOO_empty": "leave_one_out", "IM": "input_marginalization", "Random": "random"}


def methods() -> dict[str, tuple[str, Method]]:
    """By the name in the paper: what a run calls it, and itself."""
    return {"LOO_empty": (_NAMES["LOO_empty"], LeaveOneOut()), "IM": (_NAMES["IM"], InputMarginalization())}


def metrics_of(task: Task) -> tuple[str, ...]:
    return tuple(metric for metric, size in METRICS.items() if getattr(task.sizes, size))


def retrained(task: Task, metric: str, chosen: Mapping[str, tuple[str, Method]]) -> RoarResult:
    return runs_of(task).result(metric, ERASERS[metric], chosen)


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


def commonest(task: Task) -> float:
    """Per cent of the texts that have the commonest label."""
    counts = Counter(example.label for example in task.examples)
    return 100 * max(counts.values()) / counts.total()


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
    found = {metric: retrained(task, metric, methods()) for metric in metrics_of(task)}
    whole = 100 * float(np.mean(next(iter(found.values())).whole))
    paper = PAPER.text("table_2", "sst2, nothing removed", "accuracy")
    notes = (f"Nothing removed: {whole:.2f} (published {paper}). {size(task)}",)
    facts, verdicts = {"found": found, "commonest": commonest(task)}, judged_accuracies(found)
    return Subject(task.name, task.title, accuracies(found, _NAMES), notes, facts, verdicts)


def _claims(subject: Subject) -> Iterator[Claim]:
    found: Mapping[str, RoarResult] = subject.facts["found"]
    least, names = subject.facts["commonest"], _NAMES
    im, loo, random = ((name, names[name]) for name in ("IM", "LOO_empty", "Random"))
    for metric, result in found.items():
        yield claim(
            f"SST-2: under {metric} IM is not better than LOO_empty (section 5.1)",
            *gaps({metric: result}, im, loo, higher, least),
            digits=2,
            key="roar",
            about=f"SST-2, {metric}",
        )
    for metric, result in found.items():
        yield claim(
            f"SST-2: under {metric} both do better than random words (Table 2)",
            *gaps({metric: result}, im, random, lower),
            *gaps({metric: result}, loo, random, lower),
            digits=2,
            key="roar_random",
            about=f"SST-2, {metric}",
        )


def gaps(
    found: Mapping[str, RoarResult],
    one: tuple[str, str],
    other: tuple[str, str],
    rule: Rule,
    commonest: float | None = None,
) -> Iterator[Evidence]:
    """How much more accurate models without the words of `one` are than those without the words of `other`.

    Both are (name, name in the run). Where models have not learned, whichever is worse, they cannot be compared.
    """
    for metric, result in found.items():
        for share in result.shares:
            ours, theirs = (result.at(name, share) for _, name in (one, other))
            low, high = interval_of_difference(ours.accuracies, theirs.accuracies, result.texts)
            gap = Estimate(100 * (ours.mean - theirs.mean), 100 * low, 100 * high, result.texts)
            worse = min((_accuracy(result, name, share) for _, name in (one, other)), key=lambda e: e.low)
            yield Evidence(
                f"{metric} {share:.0%}, {one[0]} - {other[0]}",
                gap,
                rule,
                _published(one[0], other[0], f"{metric}, {share:.0%}"),
                over=f"{len(ours.accuracies)} seeds",
                performance=None if commonest is None else worse,
                commonest=commonest,
                freedom=freedom(ours.accuracies, theirs.accuracies, result.texts),
            )


def _published(one: str, other: str, column: str) -> str:
    """The difference of the published accuracies; Table A6 has those of LIME."""
    places = (f"sst2, {one}", column), (f"sst2, {other}", column)
    return PAPER.gap("table_2", *places) or PAPER.gap("table_a6", *places)


PART = PartSpec(
    name="table_2",
    title=_TITLE,
    measure=on_each(_measure),
    wants=is_sst2,
    left_out=lambda tasks: "" if tasks[0].sizes.roar_train and metrics_of(tasks[0]) else _LEFT_OUT,
    tables=[accuracy_table("table_2", _TITLE)],
    claims=[_claims],
    published=PAPER,
)
