"""Table 3: does attention tell a model without context which words matter? F1 of an MLP under the weights of guides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.statistics.intervals import Estimate
from assay.workflows.attention_tests.guided_mlp import ADVERSARY, BASE, TRAINED, UNIFORM
from assay.workflows.audit.summary import FAR
from assay_studies.attention_is_not_not_explanation.cells import cell, decided
from assay_studies.attention_is_not_not_explanation.published import TABLE_3
from assay_studies.attention_is_not_not_explanation.tasks import Task
from assay_studies.claims import Claim
from assay_studies.findings import Part
from assay_studies.tables import Line, Table

_PAPER = {UNIFORM: "uniform", TRAINED: "trained_mlp", BASE: "base_lstm", ADVERSARY: "adversary"}


def part(listed: Sequence[Task]) -> Part:
    columns = tuple(_PAPER)
    lines = [
        Line(
            task.title,
            tuple(
                cell(
                    task.guided.guides[name].f1 if name in task.guided.guides else None,
                    len(task.split.test),
                    TABLE_3.get(task.dataset, {}).get(_PAPER[name]),
                )
                for name in columns
            ),
        )
        for task in listed
    ]
    table = Table("table_3", "Table 3: F1 of an MLP under the weights of a guide", columns, tuple(lines), "higher")
    claims = tuple(claim for task in listed for claim in _claims(task))
    return Part("table_3", "Does attention tell a simpler model which words matter?", (table,), claims)


def _claims(task: Task) -> Iterator[Claim]:
    for (better, worse), step in task.guided.steps().items():
        text = f"{task.title}: an MLP does better under the guide {better} than under {worse}"
        yield Claim(text, decided(step), f"F1 {step.shown(sign='+')}")
    if ADVERSARY in task.guided.guides:
        yield _against_the_adversary(task)


def _against_the_adversary(task: Task) -> Claim:
    """Open where the adversary looks where the base looks: then it is no other guide."""
    gap = task.guided.guides[BASE].above(task.guided.guides[ADVERSARY])
    away = _away(task)
    text = f"{task.title}: an MLP does better under the base's attention than under an adversary's"
    said = "" if away is None else f"; this adversary is a JSD of {away.shown()} from the base"
    near = away is not None and away.high < FAR
    return Claim(text, None if near else decided(gap), f"F1 {gap.shown(sign='+')}{said}")


def _away(task: Task) -> Estimate | None:
    """How far the attention of the adversary is from the base's, where the sweep has its lambda."""
    rows = task.adversaries.table()
    return next((row["jsd"] for row in rows if row["lambda"] == task.guided.parameters.get("adversary")), None)
