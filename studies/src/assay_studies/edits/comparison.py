"""The ways of editing beside each other: flips, size, fluency, similarity, the judge's opinion, and cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from assay.checks.flip_rate import FlipRate
from assay.checks.fluency import Fluency
from assay.checks.label_kept import LabelKept
from assay.checks.minimality import Minimality
from assay.checks.similarity import Similarity
from assay.explanations.edits import Edits
from assay.statistics.arrays import Floats
from assay.statistics.verdict import Verdict
from assay_studies.edits.asked import adversarial, counterfactual, geometric, judges
from assay_studies.edits.measures import best, columns, known, measured
from assay_studies.edits.tasks import JUDGE, PAPER, Task
from assay_studies.edits.ways import ADVERSARIAL, TITLES, WAYS, in_turn
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_COLUMNS = {
    "flips": "flip rate",
    "changed": "share of words changed",
    "fluency": "fluency ratio",
    "similarity": "similarity",
    "kept": "judge keeps the label",
    "rows": "rows and tokens a text",
}
_NOTES = (
    "All but the flip rate and the cost are of the texts whose first version flips. Fluency is the geometric mean of "
    "the ratio of pseudo-perplexities near the edit, edited over original: above 1, the version is less fluent.",
    "The judge is asked of texts alone of which it gives the label that they have, before the edit.",
)


def _measure(task: Task) -> Subject:
    measures: dict[tuple[str, str], Values] = {}
    tables: dict[str, dict[str, Floats]] = {}
    verdicts: dict[str, Verdict] = {}
    for way in in_turn(task.ways):  # all edits before anything is measured
        task.edited(way)
    for way in task.ways:
        edits = task.edited(way)
        task.request.say(f"{task.title}: measuring {TITLES[way]}")
        found = columns(task.ask(map(measured, edits)))
        tables[way] = {name: values for name, values in found.items() if name != "rows" or way in WAYS}
        for name, values in tables[way].items():
            if len(some := known(values)):
                measures[way, name] = Values(some, geometric) if name == "fluency" else Values(some)
        if way in WAYS:
            verdicts |= {f"{TITLES[way]}, {what}": v for what, v in _verdicts(task, way, edits, tables[way])}
    return Subject(task.name, task.title, measures, facts={"ways": tables}, verdicts=verdicts)


def _verdicts(
    task: Task, way: str, edits: Sequence[Edits], found: Mapping[str, Floats]
) -> Iterator[tuple[str, Verdict]]:
    """Of the checks, beside random edits of the same size."""
    first = [best(e) for e in edits]
    yield "flip rate", task.judged(FlipRate(), first).verdict()
    flipped = [e for e, flips in zip(first, found["flips"], strict=True) if flips]
    if len(flipped) > 1:
        yield "minimality", task.judged(Minimality(), flipped).verdict()
        yield "fluency", task.judged(Fluency(), flipped).verdict()
        yield "similarity", task.judged(Similarity(), flipped).verdict()
    agreed = [e for e, kept in zip(first, found["kept"], strict=True) if np.isfinite(kept)]
    if len(agreed) > 1:
        expect: Literal["old", "new"] = "old" if way in ADVERSARIAL else "new"
        yield f"label kept, {expect}", task.judged(LabelKept(judge=JUDGE, expect=expect), agreed).verdict()


def _rows(subject: Subject) -> dict[str, str]:
    return {way: TITLES[way] for way in subject.facts["ways"]}


PART = PartSpec(
    name="ways",
    title="Ways of editing a text until the model says something else",
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="ways_{name}",
            title="{title}: ways of editing",
            rows=_rows,
            columns=_COLUMNS,
            layout="tables",
            notes=_NOTES,
        )
    ],
    claims=[adversarial, counterfactual, judges],
    published=PAPER,
)
