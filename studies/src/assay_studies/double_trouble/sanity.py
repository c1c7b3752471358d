"""Table A5: IM changes less than LOO_empty when the classification layer is drawn anew.

The weight of the last layer is drawn after Glorot and its bias kept, as in the released code; the label explained stays
the same. Per text: the per cent of words whose score changes its sign, and the mean absolute change of a score, each
map divided by its largest absolute score so that it lies in [-1, 1]; below it the change in log2-odds.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np

from assay.checks.randomization import Randomization
from assay.verdicts.concluding import VerdictBuilder
from assay_studies.claims import Claim, Evidence, claim, lower
from assay_studies.double_trouble.tasks import PAPER, Task, is_short
from assay_studies.samples import spread
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_METHODS = ("LOO_empty", "IM")
_LINES = {
    "signs": "per cent of words that change sign",
    "change": "mean absolute change of a score",
    "raw": "the same in log2-odds",
}
_CLAIMED = {"signs": "change their sign less often", "change": "change less"}
_TITLE = "Table A5: change of the scores when the classification layer is randomised"


def _measure(task: Task) -> Subject:
    task.say(f"{task.title}: explanations of randomised models")
    check = Randomization(part="released", seeds=tuple(range(task.sizes.sanity_seeds)))
    found = {m: task.judge(check, spread(task.maps(m), task.sizes.sanity_texts)) for m in _METHODS}
    measures = {(what, m): values for m, one in found.items() for what, values in _changes(one).items()}
    verdicts = {f"Randomization, {m}": one.verdict() for m, one in found.items()}
    return Subject(task.name, task.title, measures, verdicts=verdicts)


def _changes(found: VerdictBuilder) -> dict[str, Values]:
    return {
        "signs": Values(100 * np.array(found.facts["sign_changes"])),
        "change": Values(np.array(found.facts["scaled_change"])),
        "raw": Values(np.array(found.facts["change"]) / log(2)),
    }


def _claims(subject: Subject) -> Iterator[Claim]:
    for what, words in _CLAIMED.items():
        yield claim(
            f"{subject.title}: scores of IM {words} than those of LOO_empty when the classifier is randomised "
            "(Table A5)",
            Evidence("IM - LOO_empty", subject.gap((what, "IM"), (what, "LOO_empty")), lower),
            key=f"randomised_{what}",
            about=subject.title,
        )


PART = PartSpec(
    name="table_a5",
    title=_TITLE,
    measure=on_each(_measure),
    wants=is_short,
    tables=[
        TableSpec(
            name="table_a5",
            title=_TITLE,
            rows={(what, m): f"{m}: {words}" for what, words in _LINES.items() for m in _METHODS},
            better="higher",
        )
    ],
    claims=[_claims],
    published=PAPER,
)
