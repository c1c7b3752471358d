"""Table A4: ten candidates do for IM what all of likelihood 1e-5 or more do (at most 500 of them here).

On the first texts of SST-2 only: all candidates are hundreds of rows for each word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from assay_studies.claims import Claim, Evidence, claim, within
from assay_studies.double_trouble.deletion_bias import METRICS, areas, judged_subject
from assay_studies.double_trouble.tasks import PAPER, Task, is_sst2
from assay_studies.samples import spread
from assay_studies.specification import PartSpec, Subject, TableSpec, on_each

_TITLE = "Table A4: IM with ten candidates and with all that are likely"
_METHODS = ("IM", "IM_all")
_ALIKE = 0.05  # of the area; the paper's two differ by 0.005 and 0.010


def _measure(task: Task) -> Subject:
    """Both areas of both versions, on some of the texts; their explanations are kept under a name of their own."""
    few = replace(task, examples=spread(task.examples, task.sizes.threshold_texts), part="-part")
    found = {(metric, name): of for metric in METRICS for name, of in areas(few, _METHODS, metric).items()}
    notes = (f"On {len(few.examples)} sentences.",)
    return judged_subject(task, found, notes=notes, facts={"correlation": _pearson(few)})


def _pearson(task: Task) -> float:
    pairs = zip(task.maps("IM"), task.maps("IM_all"), strict=True)
    known = [np.corrcoef(a.scores, b.scores)[0, 1] for a, b in pairs if np.ptp(a.scores) and np.ptp(b.scores)]
    return float(np.mean(known))


def _claims(subject: Subject) -> Iterator[Claim]:
    alike = claim(
        f"{subject.title}: ten candidates do as well as all likely ones, areas within {_ALIKE:g} (section D)",
        *(Evidence(m, subject.gap((m, "IM"), (m, "IM_all")), within(_ALIKE), _printed(subject, m)) for m in METRICS),
        digits=4,
        key="candidates",
        about=subject.title,
    )
    paper = PAPER.text("table_a4", "sst2, maps", "Pearson correlation")
    maps = f"mean Pearson correlation of the maps {subject.facts['correlation']:.3f} (published {paper})"
    yield replace(alike, evidence=f"{alike.evidence}; {maps}")


def _printed(subject: Subject, metric: str) -> str:
    line = f"{subject.name}, {metric}"
    return PAPER.gap("table_a4", (line, "IM"), (line, "IM_all"))


def _left_out(tasks: Sequence[Task]) -> str:
    if tasks[0].sizes.threshold_texts:
        return ""
    return "Table A4 was left out: the quick study does not ask all candidates."


PART = PartSpec(
    name="table_a4",
    title=_TITLE,
    measure=on_each(_measure),
    wants=is_sst2,
    left_out=_left_out,
    tables=[
        TableSpec(
            name="table_a4",
            title=_TITLE,
            rows=tuple(METRICS),
            columns=_METHODS,
            layout="tables",
            better="lower",
            digits=4,
        )
    ],
    claims=[_claims],
    published=PAPER,
)
