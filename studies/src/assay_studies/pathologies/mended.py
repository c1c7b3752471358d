"""Table 2 and Figure 7: what entropy regularisation changes (section 4).

A model is fine-tuned to be unsure of reduced texts, and a second copy to be unsure of random ones of the same lengths
(`assay.mend`); both are reduced again, on texts that neither learned from. The paper's numbers are not in the text that
we have, only what it says of them: accuracy remains largely unchanged, reduced texts become longer on all tasks, and
the random baseline achieves neither. A second line of each task has the rule of the released SNLI code: reduced texts
must stay 0.9 sure; lengths are then those of the texts of which all models are that sure to begin with, as from the
others nothing can be taken. Calibration is ours: the expected calibration error

    ECE = sum_b |mean over texts of (right - confidence) in bin b|        15 bins of confidence, all equally wide
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from assay.statistics.arrays import Floats
from assay.statistics.intervals import Statistic, mean
from assay.workflows.mend import MendResult
from assay.workflows.mend.measures import BINS, ModelMeasures
from assay.workflows.mend.result import BEFORE, MENDED, RANDOM, TITLES
from assay_studies.claims import Claim, Evidence, claim, falls_less_than, higher, not_better
from assay_studies.pathologies.tasks import PAPER, Task
from assay_studies.specification import PartSpec, Quantity, Subject, TableSpec, Values

_TITLE = "Table 2: before and after entropy regularisation"
_POINT = 1.0
_EXAMPLES = 3
LENGTH = "reduced length, words"
_WAYS = (BEFORE, MENDED, RANDOM)
_GAPS = ((MENDED, BEFORE), (RANDOM, BEFORE), (MENDED, RANDOM))
_NOTES = (
    "The numbers of the paper's Table 2 are not in the text that we have, so that none stand beside ours; calibration "
    "and confidence are not in its table.",
    "The calibration error of few texts is too high, and that of resampled texts higher still: look at differences.",
)


class Measure(NamedTuple):
    """What is measured on each text [texts] or [texts, k], and what is made of its means."""

    columns: Callable[[ModelMeasures], Floats]
    statistic: Statistic = mean


def gaps(one: ModelMeasures) -> Floats:
    """Right less sure, each text in its bin of confidence [texts, bins]; an edge belongs to the lower bin."""
    sure, right = np.array(one.confidence), np.array(one.right, dtype=np.float64)
    place = np.clip(np.ceil(sure * BINS).astype(int) - 1, 0, BINS - 1)
    return np.asarray(np.eye(BINS)[place] * (right - sure)[:, None])


def ece(means: Floats) -> Floats:
    """The expected calibration error."""
    return np.asarray(np.abs(means).sum(axis=-1))


MEASURES = {
    "accuracy, per cent": Measure(lambda one: 100.0 * np.array(one.right)),
    LENGTH: Measure(lambda one: np.array(one.left, dtype=np.float64)),
    "calibration error (ECE)": Measure(gaps, ece),
    "confidence on whole texts": Measure(lambda one: np.array(one.confidence)),
    "confidence on the texts reduced before": Measure(lambda one: np.array(one.rubbish)),
}


def subject(title: str, result: MendResult) -> Subject:
    """What the three models make of each text, and the paired differences between them."""
    measures: dict[tuple[str, ...], Quantity] = {}
    for name, of in MEASURES.items():
        label, on = name, result
        if name == LENGTH and result.floor:  # lengths are of the texts that can be reduced at all
            on = result.reducible()
            label = f"{name} ({len(on.texts):,} of {len(result.texts):,} texts)"
        values = {way: Values(of.columns(on.models[way]), of.statistic) for way in _WAYS}
        measures |= {(label, way): values[way] for way in _WAYS}
        measures |= {(label, one, other): values[one] - values[other] for one, other in _GAPS}
    return Subject(title, title, measures)


def _labels(subject: Subject) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key[0] for key in subject.measures))


def _claims(subject: Subject) -> Iterator[Claim]:
    dataset, more, _ = subject.title.partition(", ")
    sure = "_sure" if more else ""
    (length,) = {key[0] for key in subject.measures if key[0].startswith(LENGTH)}
    longer, random, beyond = (subject.estimate(length, *pair) for pair in _GAPS)
    yield claim(
        f"{subject.title}: after entropy regularisation reduced texts are longer (Table 2)",
        Evidence("words, mended - before", longer, higher),
        digits=2,
        key=f"longer{sure}",
        about=dataset,
    )
    fall, gain = (subject.estimate("accuracy, per cent", way, BEFORE) for way in (MENDED, RANDOM))
    yield claim(
        f"{subject.title}: accuracy remains largely unchanged (Table 2), here: it falls by less than {_POINT:g} point",
        Evidence("points of accuracy, mended - before", fall, falls_less_than(_POINT)),
        digits=2,
        key=f"accuracy{sure}",
        about=dataset,
    )
    yield claim(
        f"{subject.title}: fine-tuning on random reductions improves neither accuracy nor reduced length (section 4.2)",
        Evidence("words, random - before", random, not_better),
        Evidence("points of accuracy, random - before", gain, not_better),
        Evidence("words, mended - random", beyond),
        digits=2,
        key=f"random_longer{sure}",
        about=dataset,
    )


def _examples(title: str, result: MendResult) -> Iterator[str]:
    """As Figure 7: what is left of the first texts before and after, and how sure each model is of it."""
    for text, _, ways in result.examples(_EXAMPLES):
        left = "; ".join(f"{way}: “{words}” {sure:.2f}" for way, words, sure in ways)
        yield f"{title}: “{text}” {left}"


def _measure(tasks: Sequence[Task]) -> Iterator[Subject]:
    return (subject(title, result) for task in tasks for title, result in task.mendings.items())


def _notes(tasks: Sequence[Task]) -> Iterator[str]:
    yield from _NOTES
    for task in tasks:
        for title, result in task.mendings.items():
            yield from _examples(title, result)


PART = PartSpec(
    name="table_2",
    title=_TITLE,
    measure=_measure,
    wants=lambda task: task.mendable,
    tables=[
        TableSpec(
            name="table_2",
            title=_TITLE,
            rows=_labels,
            columns={way: TITLES[way] for way in _WAYS},
            layout="rows",
            digits=2,
        ),
        TableSpec(
            name="table_2_differences",
            title="Table 2: differences on the same texts",
            rows=_labels,
            columns={(one, other): f"{TITLES[one]} - {TITLES[other]}" for one, other in _GAPS},
            layout="rows",
            digits=2,
        ),
    ],
    claims=[_claims],
    notes=_notes,
    published=PAPER,
    trains=True,
)
