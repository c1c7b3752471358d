"""Table 1: the datasets, and how well the BiLSTM with additive attention does on their test parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay_studies.attention_is_not_explanation import datasets
from assay_studies.attention_is_not_explanation.performance import commonest, performance
from assay_studies.attention_is_not_explanation.tasks import (
    BASE,
    PAPER,
    TITLES,
    Setting,
    Task,
    by_dataset,
    splits,
    ways,
)
from assay_studies.claims import Claim, Evidence, above, claim
from assay_studies.specification import PartSpec, Subject, TableSpec
from assay_studies.tables import Cell

_NEAR = 0.05


def _released(setting: Setting) -> str:
    line = setting.published
    return PAPER.text("performance", line, "f1") or PAPER.text("performance", line, "accuracy")


def _measure(listed: Sequence[Task]) -> Iterator[Subject]:
    found = {task.setting: performance(task) for task in listed}
    for name, tasks in by_dataset(listed).items():
        measures = datasets.measures(name, tasks[0].split)
        for task in tasks:
            measures[task.setting.way] = Cell(found[task.setting], _released(task.setting))
        base = [{"commonest": commonest(task), "over": task.over} for task in tasks if task.setting.way == BASE]
        yield Subject(name, TITLES[name], measures, facts=base[0] if base else {})


def _tables(subjects: Sequence[Subject]) -> Iterator[TableSpec]:
    yield datasets.TABLE
    yield TableSpec(
        name="table_1",
        title="Table 1, performance: test F1, or accuracy of more than two classes",
        columns=ways(subjects),
        layout="rows",
        better="higher",
    )


def _claims(subject: Subject) -> Iterator[Claim]:
    """The model is as good as the paper's: no worse by more than 0.05."""
    if BASE not in subject:
        return
    ours, paper = subject.estimate(*BASE), PAPER.get("table_1", subject.name, "performance")
    rule, least = above(round(paper.value - _NEAR, 6)), subject.facts["commonest"]
    yield claim(
        f"{subject.title}: the BiLSTM does as well as in Table 1, within {_NEAR}",
        Evidence(
            f"against {paper.as_printed}",
            ours,
            rule,
            paper.as_printed,
            subject.facts["over"],
            performance=ours,
            commonest=least,
        ),
        key="performance",
        about=subject.title,
    )


PART = PartSpec(
    name="table_1",
    title="The datasets and the models",
    measure=_measure,
    tables=_tables,
    claims=[_claims],
    notes=lambda listed: datasets.notes(splits(listed)),
    published=PAPER,
)
