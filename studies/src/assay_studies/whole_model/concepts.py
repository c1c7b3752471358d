"""Section 11.1: through which heads of a language model a stereotype has its effect, by three sets of pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.checks.mediation_sum import MediationSum
from assay.explanations.effects import Effects
from assay.statistics.intervals import Estimate
from assay_studies.claims import Claim, Evidence, below, claim, higher
from assay_studies.specification import PartSpec, Subject, TableSpec, on_each
from assay_studies.tables import Cell
from assay_studies.whole_model.tasks import PLACES, SURVEY, Task, only, reason

_FEW = 0.1  # our limit: a tenth of the heads
_SHOWN = 8
TOTAL = "total effect"
NO_EFFECT = "the total effect does not differ from 0"
_ROWS = {
    "total": "total effect",
    "half": "share of the heads that add up to half of it",
    "more": "share of it that the three strongest carry, beyond three random heads",
}


def _measure(task: Task) -> Subject:
    e: Effects = task.describe(
        "natural_indirect_effect", concept=f"{task.name}:{_place(task)}", pairs=_pairs(task), greedy=3
    )
    judged = task.judge(MediationSum(), e)
    verdict = judged.verdict()
    measures: dict[Any, Any] = {("total", "value"): e.total, ("half", "value"): e.half}
    for rank, at in enumerate(e.ranked[:_SHOWN], start=1):
        low, high = e.intervals[at]
        name = f"{rank}. layer {at[0]}, head {at[1]}"
        measures[name, "effect"] = Estimate(float(e.effects[at]), float(low), float(high), e.total.n)
        measures[name, "share"] = Cell(counted=f"{e.effects[at] / e.total.value:.1%}")
    low, high = verdict.interval
    measures["more", "value"] = Estimate(verdict.difference, low, high, e.total.n)
    facts = {"heads": [name for name, kind in measures if kind == "effect"], "missed": verdict.facts.get("missed")}
    return Subject(task.name, task.title, measures, _notes(e), facts, {"Mediation sum": verdict})


def _place(task: Task) -> str:
    return task.file() if task.name == "professions" else str(task.path().parent)


def _pairs(task: Task) -> int:
    """How many; a size of the study."""
    (size,) = task.place.sizes
    return int(getattr(task.sizes, size))


def _notes(e: Effects) -> tuple[str, ...]:
    together = ", ".join(f"{one.layer}.{one.unit} {one.effect / e.total.value:.0%}" for one in e.chosen)
    return (
        f"{e.total.n} pairs, {len(e.ranked)} heads. One after the other (layer.head), as shares of the total: "
        f"{together}. Direct and indirect effect of a head miss the total by {e.missed:.1%} on average.",
    )


def _claims(subject: Subject) -> Iterator[Claim]:
    total = subject.estimate("total", "value")
    aside = "" if total is None or total.sign else NO_EFFECT
    half, more = subject.estimate("half", "value"), subject.estimate("more", "value")
    yield claim(
        f"{subject.title}: a few heads carry the effect (11.1)",
        Evidence("share of heads that add up to half", half, below(_FEW), over="pairs", aside=aside),
        Evidence(TOTAL, total, over="pairs"),
        key="few_heads",
        about=subject.title,
    )
    yield claim(
        f"{subject.title}: the three strongest heads carry more together than three random ones",
        Evidence("share of the total beyond random heads", more, higher, over="random heads", aside=aside),
        key="together",
        about=subject.title,
    )


_TABLES = (
    TableSpec(
        name="mediation_{name}",
        title="{title}: how few heads carry the effect",
        rows=_ROWS,
        columns={"value": "log-odds, or share"},
        layout="tables",
        drawn="not",
    ),
    TableSpec(
        name="heads_{name}",
        title="{title}: the strongest heads, each by itself",
        rows=lambda subject: {name: name for name in subject.facts["heads"]},
        columns={"effect": "indirect effect", "share": "of the total"},
        layout="tables",
        drawn="columns",
    ),
)


def _part(name: str, title: str) -> PartSpec[Task]:
    return PartSpec(
        name=name,
        title=f"{title}: the effect through each head",
        measure=on_each(_measure),
        tables=_TABLES,
        claims=[_claims],
        published=SURVEY,
        wants=only(name),
        left_out=reason,
    )


PARTS = tuple(_part(name, PLACES[name].title) for name in ("professions", "winobias", "winogender"))
