"""Section 14.1 on a language model: how often the more stereotypical of two sentences is the likelier one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.explanations.behavior import Behavior
from assay_studies.claims import Claim, Evidence, above, claim
from assay_studies.specification import PartSpec, Subject, TableSpec, on_each
from assay_studies.whole_model.tasks import SURVEY, Task, only, reason, share

_FAIR = 0.5  # a model that knows no stereotype prefers either sentence as often
_SETS = {"crows_pairs": "CrowS-Pairs", "winobias": "WinoBias"}


def _measure(task: Task) -> Subject:
    measures: dict[Any, Any] = {}
    places = {"crows_pairs": task.file(0), "winobias": str(task.path(1).parent)}
    for name, place in places.items():
        most = task.sizes.stereotypes
        found: Behavior = task.describe("behavioral_probe", suite=f"{name}:{place}", most=most, examples=0)
        groups = {f"{_SETS[name]}, {group.case}": (group.passed, group.n) for group in found.groups}
        whole = sum(passed for passed, _ in groups.values()), sum(n for _, n in groups.values())
        measures |= {(title, "share"): share(*counts) for title, counts in {_SETS[name]: whole, **groups}.items()}
    return Subject(task.name, task.title, measures, facts={"rows": [title for title, _ in measures]})


def _claims(subject: Subject) -> Iterator[Claim]:
    for title in _SETS.values():
        yield claim(
            f"{subject.title}: the stereotypical sentence of {title} is the likelier one more often than not",
            Evidence("share of stereotypical sentences", subject.estimate(title, "share"), above(_FAIR), over="pairs"),
            key="stereotypes",
            about=title,
        )


PART = PartSpec(
    name="stereotypes",
    title="Stereotypes: the likelier of two sentences",
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="stereotypes",
            title="Share of pairs whose stereotypical sentence is the likelier one (0.5 is no preference)",
            rows=lambda subject: list(subject.facts["rows"]),
            columns={"share": "share"},
            layout="tables",
            drawn="columns",
        )
    ],
    claims=[_claims],
    published=SURVEY,
    wants=only("stereotypes"),
    left_out=reason,
)
