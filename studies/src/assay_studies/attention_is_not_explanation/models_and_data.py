"""Table 1: the datasets, and how well the BiLSTM with additive attention does on their test parts.

F1 of the second class where there are two, accuracy where there are more (the micro-F1 of SNLI is the same number).
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.statistics.intervals import Estimate, estimate, ratio
from assay_studies.attention_is_not_explanation import datasets
from assay_studies.attention_is_not_explanation.published import RELEASED_SCORES, TABLE_1
from assay_studies.attention_is_not_explanation.tasks import TITLES, Task
from assay_studies.attention_is_not_explanation.taus import bases
from assay_studies.claims import Claim
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

_NEAR = 0.05


def performance(task: Task) -> Estimate | None:
    """F1 for two classes, else accuracy, with its interval over the test texts."""
    return estimate(task.f1_columns, ratio) if len(task.answers.labels) == 2 else estimate(task.right)


def part(listed: Sequence[Task]) -> Part:
    encoders = list(dict.fromkeys((task.setting.encoder, task.setting.attention) for task in listed))
    found = {task.setting: performance(task) for task in listed}
    lines = []
    for dataset in dict.fromkeys(task.setting.dataset for task in listed):
        mine = {(t.setting.encoder, t.setting.attention): t for t in listed if t.setting.dataset == dataset}
        cells = [Cell(found[mine[way].setting], _released(mine[way])) if way in mine else Cell() for way in encoders]
        lines.append(Line(TITLES[dataset], tuple(cells)))
    columns = tuple(f"{encoder}, {attention}" for encoder, attention in encoders)
    table = Table(
        "table_1",
        "Table 1, performance: test F1, or accuracy of more than two classes",
        columns,
        tuple(lines),
        "higher",
    )
    splits, claims = {t.setting.dataset: t.split for t in listed}, tuple(map(_claim, bases(listed)))
    tables = (datasets.table(splits), table)
    return Part("table_1", "The datasets and the models", tables, claims, datasets.notes(splits))


def _released(task: Task) -> str:
    scores = RELEASED_SCORES.get(task.setting)
    return "" if scores is None else f"{scores.get('f1', scores['accuracy']):.3f}"


def _claim(task: Task) -> Claim:
    """The model is as good as the paper's: no worse by more than 0.05."""
    ours, paper = performance(task), TABLE_1[task.setting.dataset].performance
    holds = None if ours is None else ours.value >= paper - _NEAR
    said = "not measured" if ours is None else f"{ours.shown()} against {paper:.2f}"
    title = TITLES[task.setting.dataset]
    return Claim(f"{title}: the BiLSTM does as well as in Table 1, within {_NEAR}", holds, said)
