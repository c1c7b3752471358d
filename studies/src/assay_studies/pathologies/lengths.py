"""Figure 3: how long texts are before and after reduction.

The paper shows histograms without numbers, and says that inputs are often reduced to one or two words. Lengths are
those of what is reduced: of a pair the hypothesis or the question.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.statistics.intervals import ratio
from assay_studies.claims import Claim, Evidence, claim, higher, lower
from assay_studies.pathologies.material import Reduced, distribution
from assay_studies.pathologies.tasks import PAPER, Task
from assay_studies.specification import Key, PartSpec, Quantity, Subject, TableSpec, Values, on_each

_EDGES = (1, 2, 3, 4, 5, 6, 8, 11, 16, 21)
_BINS = ("1", "2", "3", "4", "5", "6-7", "8-10", "11-15", "16-20", "21 or more")
_ROWS = (
    "words before",
    "words after",
    "per cent of the texts reduced to one word",
    "per cent of the texts reduced to one or two words",
    "per cent of the texts not reduced at all",
    "per cent of all words left",
)
_HALF = "share of the texts less one half"


def subject(task: Reduced) -> Subject:
    before, after = task.before, task.after
    lines = (
        Values(before),
        Values(after),
        Values(np.where(after <= 1, 100.0, 0.0)),
        Values(np.where(after <= 2, 100.0, 0.0)),
        Values(np.where(after == before, 100.0, 0.0)),
        Values(np.stack([100.0 * after, before], axis=1), ratio),
    )
    measures: dict[Key, Quantity] = {
        **dict(zip(_ROWS, lines, strict=True)),
        _HALF: Values(np.where(after <= 2, 0.5, -0.5)),
        **distribution("original", before, _EDGES, _BINS),
        **distribution("reduced", after, _EDGES, _BINS),
    }
    return Subject(task.name, task.title, measures)


def _claims(subject: Subject) -> Iterator[Claim]:
    yield claim(
        f'{subject.title}: more than half of the texts are reduced to one or two words (Figure 3: "often")',
        Evidence(_HALF, subject.estimate(_HALF), higher),
        Evidence("words after - before", subject.gap("words after", "words before"), lower),
        key="short",
        about=subject.title,
    )


def _measure(task: Task) -> Subject:
    return subject(task.reduced)


PART = PartSpec(
    name="figure_3",
    title="Figure 3: length before and after reduction",
    measure=on_each(_measure),
    tables=[
        TableSpec(name="figure_3", title="Length of texts, whole and reduced", rows=_ROWS, digits=2),
        TableSpec(
            name="figure_3_{name}",
            title="{title}: per cent of the texts that have so many words",
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
