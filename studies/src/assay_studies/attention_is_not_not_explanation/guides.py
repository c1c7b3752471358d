"""Table 3: does attention tell a model without context which words matter? F1 of an MLP under the weights of guides."""

from __future__ import annotations

from collections.abc import Iterator

from assay.checks.guided_mlp import ADVERSARY, BASE, TRAINED, UNIFORM
from assay.statistics.intervals import Estimate
from assay.workflows.audit.summary import FAR
from assay_studies.attention_is_not_not_explanation.intervals import decided, interval
from assay_studies.attention_is_not_not_explanation.tasks import PAPER, Task
from assay_studies.claims import Claim
from assay_studies.specification import PartSpec, Subject, TableSpec, on_each

_GUIDES = {"uniform": UNIFORM, "trained_mlp": TRAINED, "base_lstm": BASE, "adversary": ADVERSARY}


def _measure(task: Task) -> Subject:
    known, n = task.guided.guides, len(task.split.test)
    measures = {key: interval(known[name].f1 if name in known else None, n) for key, name in _GUIDES.items()}
    verdicts = {v.check: v for v in task.guided.verdicts()}
    return Subject(task.name, task.title, measures, facts={"task": task}, verdicts=verdicts)


def claims(subject: Subject) -> Iterator[Claim]:
    task: Task = subject.facts["task"]
    for (better, worse), step in task.guided.steps().items():
        text = f"{subject.title}: an MLP does better under the guide {better} than under {worse}"
        yield Claim(text, decided(step), f"F1 {step.shown(sign='+')}")
    if ADVERSARY in task.guided.guides:
        yield _against_the_adversary(subject.title, task)


def _against_the_adversary(title: str, task: Task) -> Claim:
    """Open where the adversary looks where the base looks: then it is no other guide."""
    gap = task.guided.guides[BASE].above(task.guided.guides[ADVERSARY])
    away = _away(task)
    text = f"{title}: an MLP does better under the base's attention than under an adversary's"
    distance = "" if away is None else f"; this adversary is a JSD of {away.shown()} from the base"
    near = away is not None and away.high < FAR
    return Claim(text, None if near else decided(gap), f"F1 {gap.shown(sign='+')}{distance}")


def _away(task: Task) -> Estimate | None:
    """How far the attention of the adversary is from the base's, where the sweep has its lambda."""
    rows = task.adversaries.table()
    return next((row["jsd"] for row in rows if row["lambda"] == task.guided.parameters.get("adversary")), None)


PART = PartSpec(
    name="table_3",
    title="Does attention tell a simpler model which words matter?",
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="table_3",
            title="Table 3: F1 of an MLP under the weights of a guide",
            columns=_GUIDES,
            layout="rows",
            better="higher",
        )
    ],
    claims=[claims],
    published=PAPER,
)
