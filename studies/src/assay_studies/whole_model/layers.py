"""Section 14.2: parts of speech by layer, beside an untrained encoder, a control task, fewer words, a larger probe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.checks.control_task import ControlTask
from assay.checks.description_length import DescriptionLength
from assay.checks.untrained_baseline import UntrainedBaseline
from assay.explanations.probe_scores import ProbeScores
from assay.statistics.intervals import Estimate
from assay_studies.claims import Claim, Evidence, above, below, claim, higher, within
from assay_studies.rules import apart
from assay_studies.specification import PartSpec, Subject, TableSpec, on_each
from assay_studies.tables import Cell
from assay_studies.whole_model.tasks import SURVEY, Task, only, reason, share

_HIGH, _EQUAL = 0.7, 0.05  # our limits for "high accuracy" and "equally high"
_COLUMNS = {
    "score": "accuracy",
    "control": "control task",
    "untrained": "untrained",
    "bits": "bits a label",
    "untrained_bits": "bits, untrained",
    "mix": "weight in the mix",
}


def _measure(task: Task) -> Subject:
    linear = task.describe("structural_probe", **_settings(task, "words"))
    few = task.describe("structural_probe", **_settings(task, "few"))
    mlp = task.describe("structural_probe", **_settings(task, "mlp"), probe="mlp")
    untrained, untrained_few = (task.ask(UntrainedBaseline().against(e)) for e in (linear, few))
    measures: dict[Any, Any] = {
        ("best", "trained"): _best(linear),
        ("best", "untrained"): _best(untrained),
        ("best", "few"): _best(few),
        ("best", "few_untrained"): _best(untrained_few),
        ("best", "mlp"): _best(mlp),
        ("best", "mix"): share(round((linear.mix_score or 0) * linear.items[1]), linear.items[1]),
        ("best", "control"): _control(linear),
        ("best", "mlp_control"): _control(mlp),
    }
    for k, layer in enumerate(linear.layers):
        measures |= {(f"layer {layer}", name): cell for name, cell in _cells(k, linear, untrained).items()}
    checks = {"Control task": ControlTask(), "Description length": DescriptionLength()}
    verdicts = {name: task.judge(check, linear).verdict() for name, check in checks.items()}
    facts = {"layers": len(linear.layers), "items": linear.items, "few": few.items, "mlp": mlp.items}
    return Subject(task.name, task.title, measures, _notes(linear, few, mlp), facts, verdicts)


def _settings(task: Task, size: str) -> dict[str, Any]:
    return {"task": "pos", "corpus": task.file(0), "test": task.file(1), "most": getattr(task.sizes, size)}


def _best(e: ProbeScores) -> Estimate:
    low, high = e.intervals[e.best]
    return Estimate(float(e.scores[e.best]), low, high, e.items[1])


def _control(e: ProbeScores) -> Estimate:
    """On labels that were drawn for each word type, at the layer that is best on the task."""
    return share(round(float(e.control[e.best]) * e.items[1]), e.items[1])


def _cells(k: int, linear: ProbeScores, untrained: ProbeScores) -> dict[str, Cell]:
    def estimated(e: ProbeScores) -> Cell:
        return Cell(Estimate(float(e.scores[k]), *e.intervals[k], e.items[1]))

    return {
        "score": estimated(linear),
        "control": Cell(counted=f"{linear.control[k]:.3f}"),
        "untrained": estimated(untrained),
        "bits": Cell(counted=f"{linear.bits[k]:.3f}"),
        "untrained_bits": Cell(counted=f"{untrained.bits[k]:.3f}"),
        "mix": Cell(counted=f"{linear.mix[k]:.2f}"),
    }


def _notes(linear: ProbeScores, few: ProbeScores, mlp: ProbeScores) -> tuple[str, ...]:
    sizes = f"{linear.items[0]:,} words to train on, {linear.items[1]:,} to test on"
    return (
        f"{sizes}; the small ones {few.items[0]:,}, the larger probe {mlp.items[0]:,} words. The commonest tag has "
        f"{linear.majority:.3f}. Bits of a label without help: {linear.uniform_bits:.2f}, by its frequency "
        f"{linear.label_bits[0]:.2f}.",
    )


def _claims(subject: Subject) -> Iterator[Claim]:
    found = {name: subject.estimate("best", name) for name in _ROWS}
    yield claim(
        f"{subject.title}: a probe of an untrained model has a high accuracy (14.2)",
        Evidence("untrained, all words", found["untrained"], above(_HIGH)),
        Evidence("trained, all words", found["trained"]),
        key="untrained",
        about=subject.title,
    )
    yield claim(
        f"{subject.title}: with few words to learn from, it has not (14.2)",
        Evidence("untrained, few words", found["few_untrained"], below(_HIGH)),
        Evidence("trained, few words", found["few"]),
        key="untrained_few",
        about=subject.title,
    )
    for name, title in (("", "linear"), ("mlp_", "one hidden layer")):
        score = found["mlp" if name else "trained"]
        yield claim(
            f"{subject.title}, {title}: random labels are learned as well as the task (14.2)",
            Evidence("task - control", _gap(score, found[f"{name}control"]), within(_EQUAL)),
            Evidence("control", found[f"{name}control"]),
            key="control",
            about=title,
        )
    yield claim(
        f"{subject.title}: a mix of all layers is better than the best of them",
        Evidence("mix - best layer", _gap(found["mix"], found["trained"]), higher),
        key="mix",
        about=subject.title,
    )


def _gap(one: Estimate | None, other: Estimate | None) -> Estimate | None:
    return apart(one, other) if one is not None and other is not None else None


_ROWS = {
    "trained": "trained",
    "untrained": "untrained",
    "few": "trained, few words",
    "few_untrained": "untrained, few words",
    "mix": "all layers mixed",
    "control": "control task",
    "mlp": "a hidden layer",
    "mlp_control": "a hidden layer, control task",
}
_TITLE = "Parts of speech: accuracy of probes by layer"


def _layer_rows(subject: Subject) -> dict[str, str]:
    return {f"layer {k}": f"layer {k}" for k in range(subject.facts["layers"])}


PART = PartSpec(
    name="layers",
    title=_TITLE,
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="layers",
            title=_TITLE,
            rows=_layer_rows,
            columns=_COLUMNS,
            layout="tables",
            better="higher",
            drawn="columns",
        ),
        TableSpec(
            name="probes",
            title="The best layer of each kind of probe",
            rows={("best", name): title for name, title in _ROWS.items()},
            better="higher",
            drawn="columns",
        ),
    ],
    claims=[_claims],
    published=SURVEY,
    wants=only("layers"),
    left_out=reason,
)
