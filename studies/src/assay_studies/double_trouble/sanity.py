"""Table A5: IM changes less than LOO_empty when the classification layer is drawn anew.

The weight of the last layer is drawn after Glorot and its bias kept, as in the released code; the label explained stays
the same. Per text: the per cent of words whose score changes its sign, and the mean absolute change of a score, each
map divided by its largest absolute score so that it lies in [-1, 1]; below it the change in log2-odds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log

import numpy as np

from assay.checks.randomization import Randomization
from assay.explanations.token_scores import TokenScores
from assay_studies.claims import Claim, Evidence, claim, lower
from assay_studies.double_trouble.magnitude import normalised
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
    measures = {(what, m): values for m in _METHODS for what, values in _changes(task, m).items()}
    return Subject(task.name, task.title, measures)


def _changes(task: Task, method: str) -> dict[str, Values]:
    maps = spread(task.maps(method), task.sizes.sanity_texts)
    check = Randomization(part="released", seeds=tuple(range(task.sizes.sanity_seeds)))
    others = task.ask(map(check.against, maps))
    facts = [check.measure(e, other).facts for e, other in zip(maps, others, strict=True)]
    moved = [_moved(e, other["released"]) for e, other in zip(maps, others, strict=True)]
    return {
        "signs": Values(100 * np.array([fact["sign_changes"] for fact in facts])),
        "change": Values(np.array(moved)),
        "raw": Values(np.array([fact["change"] for fact in facts]) / log(2)),
    }


def _moved(e: TokenScores, others: Sequence[TokenScores]) -> float:
    """The mean absolute change over words and randomised models."""
    return float(np.mean([np.abs(normalised(e) - normalised(other)) for other in others]))


def _claims(subject: Subject) -> Iterator[Claim]:
    for what, words in _CLAIMED.items():
        yield claim(
            f"{subject.title}: scores of IM {words} than those of LOO_empty when the classifier is randomised "
            "(Table A5)",
            Evidence("IM - LOO_empty", subject.gap((what, "IM"), (what, "LOO_empty")), lower),
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
