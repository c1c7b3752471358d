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

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from assay.statistics.arrays import Floats
from assay.workflows.mend import MendResult
from assay.workflows.mend.measures import BINS, Measured
from assay.workflows.mend.result import BEFORE, MENDED, RANDOM, TITLES
from assay_studies.claims import Claim, all_of, higher, not_better, told
from assay_studies.estimates import Estimate, Statistic, difference, estimate, mean
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

_TITLE = "Table 2: before and after entropy regularisation"
_POINT = 1.0
_EXAMPLES = 3
_LENGTH = "reduced length, words"
_WAYS = (BEFORE, MENDED, RANDOM)
_GAPS = ((MENDED, BEFORE), (RANDOM, BEFORE), (MENDED, RANDOM))
_NOTES = (
    "The numbers of the paper's Table 2 are not in the text that we have, so that none stand beside ours; calibration "
    "and confidence are not in its table.",
    "The calibration error of few texts is too high, and that of resampled texts higher still: look at differences.",
)


class Measure(NamedTuple):
    """What is measured on each text [texts] or [texts, k], and what is made of its means."""

    columns: Callable[[Measured], Floats]
    statistic: Statistic = mean


def gaps(one: Measured) -> Floats:
    """Right less sure, each text in its bin of confidence [texts, bins]; an edge belongs to the lower bin."""
    sure, right = np.array(one.confidence), np.array(one.right, dtype=np.float64)
    place = np.clip(np.ceil(sure * BINS).astype(int) - 1, 0, BINS - 1)
    return np.asarray(np.eye(BINS)[place] * (right - sure)[:, None])


def ece(means: Floats) -> Floats:
    """The expected calibration error."""
    return np.asarray(np.abs(means).sum(axis=-1))


MEASURES = {
    "accuracy, per cent": Measure(lambda one: 100.0 * np.array(one.right)),
    _LENGTH: Measure(lambda one: np.array(one.left, dtype=np.float64)),
    "calibration error (ECE)": Measure(gaps, ece),
    "confidence on whole texts": Measure(lambda one: np.array(one.confidence)),
    "confidence on the texts reduced before": Measure(lambda one: np.array(one.rubbish)),
}


def part(found: Mapping[str, MendResult]) -> Part:
    """The table, the paired differences in it, and examples; results by the titles of their tasks."""
    each = [line for title, result in found.items() for line in _measures(title, result)]
    values = [Line(label, tuple(_value(result, of, way) for way in _WAYS)) for label, result, of in each]
    moved = [Line(label, tuple(Cell(gap(result, of, *pair)) for pair in _GAPS)) for label, result, of in each]
    columns = tuple(f"{TITLES[one]} - {TITLES[other]}" for one, other in _GAPS)
    tables = (
        Table("table_2", _TITLE, tuple(TITLES[way] for way in _WAYS), tuple(values), "", 2),
        Table("table_2_differences", "Table 2: differences on the same texts", columns, tuple(moved), "", 2),
    )
    claims = [claim for title, result in found.items() for claim in _claims(title, result)]
    shown = [line for title, result in found.items() for line in _examples(title, result)]
    return Part("table_2", _TITLE, tables, tuple(claims), (*_NOTES, *shown))


def _measures(title: str, result: MendResult) -> Iterator[tuple[str, MendResult, Measure]]:
    """Lengths are of the texts that can be reduced at all."""
    for name, of in MEASURES.items():
        if name == _LENGTH and result.floor:
            able = result.reducible()
            yield f"{title}, {name} ({len(able.texts):,} of {len(result.texts):,} texts)", able, of
        else:
            yield f"{title}, {name}", result, of


def _value(result: MendResult, of: Measure, way: str) -> Cell:
    return Cell(estimate(of.columns(result.models[way]), of.statistic))


def gap(result: MendResult, of: Measure, one: str, other: str) -> Estimate | None:
    """The measure of the first model less that of the second, on the same texts."""
    return difference(of.columns(result.models[one]), of.columns(result.models[other]), of.statistic)


def _claims(title: str, result: MendResult) -> Iterator[Claim]:
    length, right, able = MEASURES[_LENGTH], MEASURES["accuracy, per cent"], result.reducible()
    longer, random, beyond = (gap(able, length, *pair) for pair in _GAPS)
    fall = gap(result, right, MENDED, BEFORE)
    yield Claim(
        f"{title}: after entropy regularisation reduced texts are longer (Table 2)",
        higher(longer),
        told({"words, mended - before": longer}, 2),
    )
    yield Claim(
        f"{title}: accuracy remains largely unchanged (Table 2), here: it falls by less than {_POINT:g} point",
        _kept(fall),
        told({"points of accuracy, mended - before": fall}, 2),
    )
    yield Claim(
        f"{title}: fine-tuning on random reductions does not make reduced texts longer (section 4.2)",
        all_of([not_better(random), higher(beyond)]),
        told({"words, random - before": random, "words, mended - random": beyond}, 2),
    )


def _kept(fall: Estimate | None) -> bool | None:
    """Surely no loss of a point, surely one, or open."""
    if fall is None or fall.few:
        return None
    return True if fall.low > -_POINT else False if fall.high < -_POINT else None


def _examples(title: str, result: MendResult) -> Iterator[str]:
    """As Figure 7: what is left of the first texts before and after, and how sure each model is of it."""
    for text, _, ways in result.examples(_EXAMPLES):
        left = "; ".join(f"{way}: “{words}” {sure:.2f}" for way, words, sure in ways)
        yield f"{title}: “{text}” {left}"
