"""Table 3: does attention tell a model without context which words matter? F1 of an MLP under the weights of guides."""

from __future__ import annotations

from collections.abc import Iterator

from assay.checks.guided_mlp import ADVERSARY, BASE, TRAINED, UNIFORM
from assay.statistics.intervals import Estimate
from assay.workflows.audit.summary import FAR
from assay_studies.attention_is_not_not_explanation.intervals import interval
from assay_studies.attention_is_not_not_explanation.tasks import PAPER, Task
from assay_studies.claims import Claim, Evidence, claim, higher
from assay_studies.specification import PartSpec, Subject, TableSpec, on_each

_KEYS = {TRAINED: "guide_base", UNIFORM: "guide_trained", ADVERSARY: "guide_adversary"}
_GUIDES = {"uniform": UNIFORM, "trained_mlp": TRAINED, "base_lstm": BASE, "adversary": ADVERSARY}
_COLUMNS = {name: column for column, name in _GUIDES.items()}


def _measure(task: Task) -> Subject:
    known, n = task.guided.guides, len(task.split.test)
    measures = {key: interval(known[name].f1 if name in known else None, n) for key, name in _GUIDES.items()}
    verdicts = {v.check: v for v in task.guided.verdicts()}
    return Subject(task.name, task.title, measures, facts={"task": task}, verdicts=verdicts)


def claims(subject: Subject) -> Iterator[Claim]:
    task: Task = subject.facts["task"]
    for better, worse in ((BASE, TRAINED), (TRAINED, UNIFORM)):
        if {better, worse} <= task.guided.guides.keys():
            yield claim(
                f"{subject.title}: an MLP does better under the guide {better} than under {worse}",
                _gap(task, better, worse),
                key=_KEYS[worse],
                about=subject.title,
            )
    if ADVERSARY in task.guided.guides:
        yield _against_the_adversary(subject.title, task)


def _gap(task: Task, better: str, worse: str, aside: str = "") -> Evidence:
    gap = interval(task.guided.guides[better].above(task.guided.guides[worse]), len(task.split.test))
    one, other = (PAPER.find("table_3", task.name, _COLUMNS[name]) for name in (better, worse))
    published = f"{one.value - other.value:.3f}" if one and other else ""
    guided = {better, worse} & {BASE, ADVERSARY}
    seeds = f"texts and {task.sizes.guide_seeds} seeds" + (" of the MLP; guides are trained once" if guided else "")
    return Evidence("F1 more", gap, higher, published, over=seeds, aside=aside)


def _against_the_adversary(title: str, task: Task) -> Claim:
    """Open where the adversary looks where the base looks: then it is no other guide."""
    away = _away(task)
    near = (
        "" if away is None or away.high >= FAR else f"this adversary looks where the base looks, JSD {away.value:.3f}"
    )
    return claim(
        f"{title}: an MLP does better under the base's attention than under an adversary's",
        _gap(task, BASE, ADVERSARY, near),
        Evidence("JSD of the adversary to the base", away),
        key=_KEYS[ADVERSARY],
        about=title,
    )


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
