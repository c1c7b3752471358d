"""Table A1: scores of IM are smaller than those of LOO_empty.

The scores of a text are divided by the largest absolute one, so that they lie in [-1, 1], and the mean absolute value
is taken over all words; below it the same without the division, in log2-odds, which is the paper's scale of scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log

import numpy as np

from assay.explanations.token_scores import TokenScores
from assay.statistics.arrays import Floats
from assay.statistics.intervals import ratio
from assay_studies.claims import Claim, Evidence, claim, lower
from assay_studies.double_trouble.tasks import DATASETS, NOT_MEASURED, PAPER, Task
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_METHODS = ("LOO_empty", "IM")
_LOG2 = "log2-odds"
_TITLE = "Table A1: mean absolute score of a word"


def _measure(task: Task) -> Subject:
    scaled = {(m,): _sums([normalised(e) for e in task.maps(m)]) for m in _METHODS}
    raw = {(m, _LOG2): _sums([e.scores / log(2) for e in task.maps(m)]) for m in _METHODS}
    return Subject(task.name, task.title, {**scaled, **raw})


def normalised(e: TokenScores) -> Floats:
    """Divided by the largest absolute score."""
    top = np.abs(e.scores).max()
    return np.asarray(e.scores / top if top else e.scores)


def _sums(maps: Sequence[Floats]) -> Values:
    """For every text the sum of the absolute scores, and how many there are."""
    return Values(np.array([[np.abs(scores).sum(), len(scores)] for scores in maps]), ratio)


def _claims(subject: Subject) -> Iterator[Claim]:
    printed = PAPER.gap("table_a1", ("IM", subject.name), ("LOO_empty", subject.name))
    yield claim(
        f"{subject.title}: scores of IM are smaller than those of LOO_empty (Table A1)",
        Evidence("IM - LOO_empty, scaled", subject.gap("IM", "LOO_empty"), lower, printed),
        Evidence("in log2-odds", subject.gap(("IM", _LOG2), ("LOO_empty", _LOG2))),
        key="magnitude",
        about=subject.title,
    )


PART = PartSpec(
    name="table_a1",
    title=_TITLE,
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="table_a1",
            title=_TITLE,
            rows={key: ", ".join(key) for key in (*((m,) for m in _METHODS), *((m, _LOG2) for m in _METHODS))},
            columns=DATASETS,
            missing=NOT_MEASURED,
        )
    ],
    claims=[_claims],
    published=PAPER,
)
