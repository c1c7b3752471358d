"""The random baseline: words taken away at random to the length that input reduction reaches.

Input reduction keeps the prediction by its rule; how often chance keeps it, and how sure the model is then, tells what
the search is worth. Each text has several random versions, of which the mean counts. The paper has no numbers for this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.explanations.edits import Edits
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats
from assay.workflows.people.random_words import random_versions
from assay_studies.claims import Claim, higher, told
from assay_studies.estimates import difference, estimate
from assay_studies.findings import Part
from assay_studies.pathologies.material import Reduced
from assay_studies.pathologies.same_answer import says_the_same
from assay_studies.tables import Cell, Line, Table

_TITLE = "Random removal to the same length"


@dataclass(frozen=True)
class Chance:
    """Of a text's random versions: the share that keeps the prediction, and their mean confidence in it."""

    kept: float
    confidence: float


def talks(task: Reduced, draws: int = 10, seed: int = 0) -> Iterator[Conversation[Chance]]:
    """One conversation for each text, with the model that was reduced."""
    return (asked(e, draws, seed) for e in task.edits)


def asked(e: Edits, draws: int, seed: int) -> Conversation[Chance]:
    """All random versions of a text together."""
    versions = random_versions(e.text, len(e.edits[-1].kept), draws, seed)
    same = yield from says_the_same(e, versions, e.about.labels)
    answers = yield Predict(*versions)
    return Chance(float(same.mean()), float(answers.probabilities[:, e.target].mean()))


def part(listed: Sequence[Reduced], found: Mapping[str, Sequence[Chance]]) -> Part:
    """How often chance keeps the prediction; `found` holds what the talks of each task returned, by its name."""
    columns = tuple(task.title for task in listed)
    kept = [_column(found[task.name], "kept") for task in listed]
    sure = [_column(found[task.name], "confidence") for task in listed]
    lines = (
        Line("per cent of random versions that keep the prediction", tuple(Cell(estimate(100 * of)) for of in kept)),
        Line("confidence, random", tuple(Cell(estimate(of)) for of in sure)),
        Line("confidence, reduced", tuple(Cell(estimate(task.still_confident)) for task in listed)),
    )
    table = Table("random_removal", _TITLE, columns, lines, "", 3)
    return Part("random_removal", _TITLE, (table,), tuple(map(_claim, listed, sure)))


def _column(found: Sequence[Chance], name: str) -> Floats:
    return np.array([getattr(one, name) for one in found])


def _claim(task: Reduced, sure: Floats) -> Claim:
    gain = difference(task.still_confident, sure)
    return Claim(
        f"{task.title}: the model is surer of its prediction on reduced texts than on random ones of the same length",
        higher(gain),
        told({"reduced - random": gain}),
    )
