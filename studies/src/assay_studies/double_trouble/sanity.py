"""Table A5: IM changes less than LOO_empty when the classification layer is drawn anew.

The weight of the last layer is drawn after Glorot and its bias kept, as in the released code; the label explained stays
the same. Per text: the per cent of words whose score changes its sign, and the mean absolute change of a score, each
map divided by its largest absolute score so that it lies in [-1, 1]; below it the change in log2-odds.

Intervals are over texts and draws of the layer. A drawn layer looks along the old direction or against it, for all
texts alike, so that one draw says little: the draws with the fewest and the most changes of sign stand beside the mean.
The paper has three draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log

import numpy as np

from assay.checks.randomization import Randomization
from assay.statistics.arrays import Floats
from assay.statistics.intervals import mean_over_seeds
from assay.verdicts.concluding import VerdictBuilder
from assay_studies.claims import Claim, Evidence, claim, lower
from assay_studies.double_trouble.tasks import PAPER, Task, is_short
from assay_studies.samples import spread
from assay_studies.specification import PartSpec, Subject, TableSpec, on_each

_METHODS = ("LOO_empty", "IM")
LINES = {
    "signs": "per cent of words that change sign",
    "fewest": "the same, draw with the fewest",
    "most": "the same, draw with the most",
    "change": "mean absolute change of a score",
    "raw": "the same in log2-odds",
}
_FACTS = {"signs": ("sign_changes", 100.0), "change": ("scaled_change", 1.0), "raw": ("change", 1 / log(2))}
_CLAIMED = {"signs": "change their sign less often", "change": "change less"}
_TITLE = "Table A5: change of the scores when the classification layer is randomised"


def _measure(task: Task) -> Subject:
    task.say(f"{task.title}: explanations of randomised models")
    found = {m: [_drawn(task, m, seed) for seed in range(task.sizes.sanity_seeds)] for m in _METHODS}
    changes = {m: {what: _changes(of, what) for what in _FACTS} for m, of in found.items()}
    measures = {(what, m): mean_over_seeds(of) for m, each in changes.items() for what, of in each.items()}
    for m in _METHODS:
        by_draw = sorted(changes[m]["signs"], key=lambda texts: float(texts.mean()))
        measures |= {("fewest", m): mean_over_seeds(by_draw[0]), ("most", m): mean_over_seeds(by_draw[-1])}
    gaps = {what: mean_over_seeds(changes["IM"][what] - changes["LOO_empty"][what]) for what in _CLAIMED}
    verdicts = {f"Randomization, {m}": draws[0].verdict() for m, draws in found.items()}
    facts = {"gaps": gaps, "draws": task.sizes.sanity_seeds}
    return Subject(task.name, task.title, measures, facts=facts, verdicts=verdicts)


def _drawn(task: Task, method: str, seed: int) -> VerdictBuilder:
    check = Randomization(part="released", seeds=(seed,))
    return task.judge(check, spread(task.maps(method), task.sizes.sanity_texts))


def _changes(draws: Sequence[VerdictBuilder], what: str) -> Floats:
    """[draws, texts]."""
    fact, scale = _FACTS[what]
    return scale * np.array([one.facts[fact] for one in draws])


def _claims(subject: Subject) -> Iterator[Claim]:
    draws = subject.facts["draws"]
    for what, words in _CLAIMED.items():
        lines = (f"{what}, IM", subject.name), (f"{what}, LOO_empty", subject.name)
        printed = PAPER.gap("table_a5", *lines)
        yield claim(
            f"{subject.title}: scores of IM {words} than those of LOO_empty when the classifier is randomised "
            "(Table A5)",
            Evidence("IM - LOO_empty", subject.facts["gaps"][what], lower, printed, f"texts and {draws} draws"),
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
            rows={(what, m): f"{m}: {words}" for what, words in LINES.items() for m in _METHODS},
            better="higher",
        )
    ],
    claims=[_claims],
    published=PAPER,
)
