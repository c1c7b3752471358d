"""Table 1: the datasets, and how well the BiLSTM with additive attention does on their test parts.

F1 of the second class where there are two, accuracy where there are more (the micro-F1 of SNLI is the same number).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.statistics.intervals import ratio
from assay_studies.attention_is_not_explanation import datasets
from assay_studies.attention_is_not_explanation.tasks import PAPER, TITLES, Setting, Task, by_dataset, splits, ways
from assay_studies.claims import Claim
from assay_studies.specification import PartSpec, Subject, TableSpec, Values
from assay_studies.tables import Cell

_NEAR = 0.05
_BASE = ("lstm", "additive")


def _performance(task: Task) -> Values:
    """F1 for two classes, else accuracy, on each test text."""
    return Values(task.f1_columns, ratio) if len(task.answers.labels) == 2 else Values(task.right)


def _released(setting: Setting) -> str:
    line = ", ".join(setting)
    return PAPER.text("performance", line, "f1") or PAPER.text("performance", line, "accuracy")


def _measure(listed: Sequence[Task]) -> Iterator[Subject]:
    found = {task.setting: _performance(task).estimate() for task in listed}
    for name, tasks in by_dataset(listed).items():
        measures = datasets.measures(name, tasks[0].split)
        for task in tasks:
            measures[task.setting.way] = Cell(found[task.setting], _released(task.setting))
        yield Subject(name, TITLES[name], measures)


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
    if _BASE not in subject:
        return
    ours, paper = subject.estimate(*_BASE), PAPER.get("table_1", subject.name, "performance")
    holds = None if ours is None else ours.value >= paper.value - _NEAR
    evidence = "not measured" if ours is None else f"{ours.shown()} against {paper.as_printed}"
    yield Claim(f"{subject.title}: the BiLSTM does as well as in Table 1, within {_NEAR}", holds, evidence)


PART = PartSpec(
    name="table_1",
    title="The datasets and the models",
    measure=_measure,
    tables=_tables,
    claims=[_claims],
    notes=lambda listed: datasets.notes(splits(listed)),
    published=PAPER,
)
