"""Section 15.2: formulas of neurons, on texts that the search saw and on others, and whether the neurons matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.checks.neuron_ablation import NeuronAblation
from assay.explanations.rules import Rules
from assay.statistics.intervals import Estimate, estimate
from assay.text.sample import Sample
from assay_studies.claims import Claim, Evidence, above, claim, higher
from assay_studies.rationales.questions import DATASETS
from assay_studies.samples import spread
from assay_studies.specification import PartSpec, Subject, TableSpec, on_each
from assay_studies.tables import Cell
from assay_studies.whole_model.tasks import SURVEY, Task, only, reason

_SHOWN = 6
_MEANS = 0.9  # our limit for a rule that means that the neuron is on


def _measure(task: Task) -> Subject:
    rows = spread(list(DATASETS["esnli"].read(task.request)), task.sizes.neurons)
    sample = Sample.of([(one.text, one.choices[one.answer]) for one in rows], name="SNLI test")
    e: Rules = task.describe("compositional_neurons", sample, tags=task.file(1))
    measures: dict[Any, Any] = {}
    for length, iou in enumerate(e.facts["mean_iou"], start=1):
        measures[f"length {length}", "iou"] = Cell(counted=f"{iou:.3f}")
        measures[f"length {length}", "held_out"] = Cell(counted=f"{e.facts['mean_held_out'][length - 1]:.3f}")
    for name in ("gain", "right"):
        if found := e.facts.get(f"held_out_{name}"):
            measures["unseen", name] = Estimate(**found)
    ablation = NeuronAblation(rules=len(e.rules))
    effects = task.ask(ablation.by_rule(e))
    measures["ablation", "more"] = estimate(effects[:, 0] - effects[:, 1])
    measures["ablation", "there"] = estimate(effects[:, 0])
    verdict = task.judge(ablation, e).verdict()
    shown = e.rules[:_SHOWN]
    for i, rule in enumerate(shown, start=1):
        name = f"{i}. neuron {rule.subject['neuron']}"
        measures[name, "rule"] = Cell(counted=rule.rule)
        for number in ("iou", "held_out", "always"):
            measures[name, number] = Cell(counted=f"{rule.numbers[number]:.3f}")
    names = [name for name, kind in measures if kind == "rule"]
    note = f"{e.facts['neurons']:,} neurons, {e.facts['features_used']:,} features, {len(rows):,} pairs."
    facts = {"rules": names, "lengths": len(e.facts["mean_iou"])}
    return Subject(task.name, task.title, measures, (note,), facts, {"Neuron ablation": verdict})


def _claims(subject: Subject) -> Iterator[Claim]:
    yield claim(
        f"{subject.title}: where its formula holds, a neuron is on (15.2)",
        Evidence("share of unseen texts", subject.estimate("unseen", "right"), above(_MEANS), over="neurons"),
        key="means",
        about=subject.title,
    )
    yield claim(
        f"{subject.title}: longer formulas say better where a neuron is on, on texts that the search did not see",
        Evidence("IoU, longest - single feature", subject.estimate("unseen", "gain"), higher, over="neurons"),
        key="longer",
        about=subject.title,
    )
    yield claim(
        f"{subject.title}: a neuron matters to the answer where its formula holds",
        Evidence(
            "effect where it holds - elsewhere, log-odds", subject.estimate("ablation", "more"), higher, over="neurons"
        ),
        Evidence("effect where it holds", subject.estimate("ablation", "there"), over="neurons"),
        digits=5,
        key="ablation",
        about=subject.title,
    )


_NUMBERS = {"rule": "formula", "iou": "IoU", "held_out": "held out", "always": "a rule that always holds"}


PART = PartSpec(
    name="neurons",
    title="Formulas of neurons",
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="iou",
            title="Mean IoU by the length of the formula",
            rows=lambda subject: [f"length {k + 1}" for k in range(subject.facts["lengths"])],
            columns={"iou": "texts searched", "held_out": "held out"},
            layout="tables",
            better="higher",
        ),
        TableSpec(
            name="formulas",
            title="The formulas furthest above a rule that always holds",
            rows=lambda subject: list(subject.facts["rules"]),
            columns=_NUMBERS,
            layout="tables",
        ),
    ],
    claims=[_claims],
    published=SURVEY,
    wants=only("neurons"),
    left_out=reason,
)
