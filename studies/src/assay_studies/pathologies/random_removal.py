"""The random baseline: words taken away at random to the length that input reduction reaches.

Input reduction keeps the prediction by its rule; how often chance keeps it, and how sure the model is then, tells what
the search is worth. Each text has several random versions, of which the mean counts. The paper has no numbers for this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.explanations.edits import Edits
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.workflows.people.random_words import random_versions
from assay_studies.claims import Claim, Evidence, claim, higher
from assay_studies.pathologies.material import Reduced
from assay_studies.pathologies.same_answer import says_the_same
from assay_studies.pathologies.tasks import PAPER, Task
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_TITLE = "Random removal to the same length"
_ROWS = {
    "kept": "per cent of random versions that keep the prediction",
    "random": "confidence, random",
    "reduced": "confidence, reduced",
}


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


def subject(task: Reduced, found: Sequence[Chance]) -> Subject:
    """`found` is what the talks returned."""
    measures = {
        "kept": Values(100 * np.array([one.kept for one in found])),
        "random": Values(np.array([one.confidence for one in found])),
        "reduced": Values(task.still_confident),
    }
    return Subject(task.name, task.title, measures)


def _claims(subject: Subject) -> Iterator[Claim]:
    yield claim(
        f"{subject.title}: the model is surer of its prediction on reduced texts than on random ones of the same "
        "length",
        Evidence("reduced - random", subject.gap("reduced", "random"), higher),
        key="surer_than_random",
        about=subject.title,
    )


def _measure(task: Task) -> Subject:
    return subject(task.reduced, task.ask(talks(task.reduced, task.sizes.draws)))


PART = PartSpec(
    name="random_removal",
    title=_TITLE,
    measure=on_each(_measure),
    tables=[TableSpec(name="random_removal", title=_TITLE, rows=_ROWS)],
    claims=[_claims],
    published=PAPER,
)
