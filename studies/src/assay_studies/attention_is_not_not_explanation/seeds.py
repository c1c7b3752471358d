"""Figure 3: how far attention moves between models that differ in their seed only, by the base's largest weight."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.statistics.intervals import mean_over_seeds
from assay_studies.attention_is_not_not_explanation.intervals import interval
from assay_studies.attention_is_not_not_explanation.tasks import PAPER, Task
from assay_studies.claims import Claim, Evidence, claim, lower
from assay_studies.rules import apart
from assay_studies.specification import Key, PartSpec, Quantity, Subject, TableSpec, Values, on_each

_PEAKS = {
    f"{low:g} to {min(high, 1.0):g}": (low, high) for low, high in ((0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.01))
}
_APART = ("JSD of seeds", "TVD of seeds", "JSD of uniform", "TVD of uniform", "F1 over seeds")


def _measure(task: Task) -> Subject:
    found, flat, n = task.seeds, task.uniform, len(task.split.test)
    measures: dict[Key, Quantity] = {}
    for i, label in enumerate(found.labels):
        for peak, (low, high) in _PEAKS.items():
            own = (found.highest >= low) & (found.highest < high) & (found.predicted == i)
            measures["figure_3", label, peak] = Values(found.median[own])
    apart = (
        interval(found.mean_jsd, n),
        interval(found.mean_tvd, n),
        interval(mean_over_seeds(flat.jsd), n),
        interval(mean_over_seeds(flat.tvd), n),
        Values(np.array(found.scores.f1_by_seed)),
    )
    measures |= {("seeds", name): value for name, value in zip(_APART, apart, strict=True)}
    verdicts = {v.check: v for v in found.verdicts()}
    return Subject(task.name, task.title, measures, facts={"task": task}, verdicts=verdicts)


def _claims(subject: Subject) -> Iterator[Claim]:
    between, flat = subject.estimate("seeds", "JSD of seeds"), subject.estimate("seeds", "JSD of uniform")
    sizes = subject.facts["task"].sizes
    gap = None if between is None or flat is None else apart(between, flat)
    yield claim(
        f"{subject.title}: seeds move attention less than making it uniform does",
        Evidence("JSD between seeds less JSD to uniform", gap, lower, over="texts and seeds"),
        Evidence("JSD between seeds", between, over=f"texts and {sizes.seeds} seeds"),
        Evidence("JSD to uniform", flat, over=f"texts and {sizes.uniform_seeds} seeds"),
        key="seeds",
        about=subject.title,
    )


PART = PartSpec(
    name="figure_3",
    title="How much does attention change by chance?",
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="figure_3",
            title="Figure 3: JSD between seeds, by the largest weight of the base",
            rows=lambda subject: {key[:2]: key[1] for key in subject.measures if key[0] == "figure_3"},
            columns=tuple(_PEAKS),
            layout="rows",
        ),
        TableSpec(
            name="seeds",
            title="Seeds and uniform attention, against the base",
            rows={"seeds": ""},
            columns=_APART,
            layout="rows",
        ),
    ],
    claims=[_claims],
    notes=lambda tasks: ("JSD to the base model, of each text the median over the other seeds; at most 0.69.",),
    published=PAPER,
)
