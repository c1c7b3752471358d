"""Figure 4: how sure the model is of its prediction, before and after reduction.

The paper shows densities without numbers, and says that confidence falls slightly (SQuAD, SNLI) or even rises (VQA).
Here "slightly" is by less than 0.1 on average. A span reader's confidence is that of the whole span; the paper shows
its start and end apart.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay_studies.claims import Claim, Evidence, claim, falls_less_than, higher
from assay_studies.pathologies.material import Reduced, distribution
from assay_studies.pathologies.tasks import PAPER, Task
from assay_studies.specification import Key, PartSpec, Quantity, Subject, TableSpec, Values, on_each

_EDGES = tuple(i / 10 for i in range(10))
_BINS = tuple(f"{edge:.1f}-{edge + 0.1:.1f}" for edge in _EDGES)
_SLIGHT = 0.1
_ROWS = {
    "whole": "confidence on whole texts",
    "reduced": "confidence on reduced texts",
    "change": "change",
    "rises": "per cent of the texts with a rise",
}


def subject(task: Reduced) -> Subject:
    before, after = task.confident, task.still_confident
    measures: dict[Key, Quantity] = {
        "whole": Values(before),
        "reduced": Values(after),
        "change": Values(after) - Values(before),
        "rises": Values(np.where(after > before, 100.0, 0.0)),
        **distribution("original", before, _EDGES, _BINS),
        **distribution("reduced", after, _EDGES, _BINS),
    }
    return Subject(task.name, task.title, measures)


def _claims(subject: Subject) -> Iterator[Claim]:
    rises = subject.name == "scenes"
    words = "is higher, as on VQA" if rises else f"is lower by less than {_SLIGHT:g}"
    yield claim(
        f"{subject.title}: confidence on reduced texts {words} (Figure 4)",
        Evidence("reduced - original", subject.estimate("change"), higher if rises else falls_less_than(_SLIGHT)),
        key="confidence",
        about=subject.title,
    )


def _measure(task: Task) -> Subject:
    return subject(task.reduced)


PART = PartSpec(
    name="figure_4",
    title="Figure 4: confidence before and after reduction",
    measure=on_each(_measure),
    tables=[
        TableSpec(name="figure_4", title="Probability of the predicted label", rows=_ROWS),
        TableSpec(
            name="figure_4_{name}",
            title="{title}: per cent of the texts with so much confidence",
            rows=("original", "reduced"),
            columns=_BINS,
            layout="tables",
            digits=1,
            drawn="bars",
        ),
    ],
    claims=[_claims],
    published=PAPER,
)
