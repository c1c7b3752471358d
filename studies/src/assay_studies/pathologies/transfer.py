"""Section 5.3: do the reduced texts of one model mislead another?

    share of the reduced texts to which a second model says what the first one says

In the paper, of fifty reduced SNLI pairs of each class by BiMPM, 81.3 % keep their label under the decomposable
attention model. Beside it here, which the paper has not: texts shortened at random to the same length (the mean over
several versions), and the whole texts, where two good models agree anyway. Labels are compared by their names, answers
in a context by their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.errors import BadInput
from assay.explanations.edits import Edits
from assay.questions.base import Conversation
from assay.statistics.arrays import Floats
from assay.workflows.people.random_words import random_versions
from assay_studies.claims import Claim, higher, told
from assay_studies.estimates import difference, estimate
from assay_studies.findings import Part
from assay_studies.pathologies.material import Reduced
from assay_studies.pathologies.same_answer import answers_freely, says_the_same
from assay_studies.tables import Cell, Line, Table

PUBLISHED = {"snli": "81.3"}
_TITLE = "Section 5.3: reduced texts under a second architecture"
_LINES = {"reduced": "reduced texts", "random": "random ones of the same length", "whole": "whole texts"}


@dataclass(frozen=True)
class Carried:
    """What the first model says to a text, and how often the second one says it: to each kind of version."""

    label: str
    reduced: float
    random: float
    whole: float


def chosen(task: Reduced, per_label: int = 50) -> list[Edits]:
    """The first texts of each predicted label, so many of each at most."""
    labels = dict.fromkeys(task.labels)
    return [e for label in labels for e in [e for e in task.edits if e.label == label][:per_label]]


def talks(
    task: Reduced, labels: Sequence[str], per_label: int = 50, draws: int = 10, seed: int = 0
) -> Iterator[Conversation[Carried]]:
    """One conversation for each chosen text, with the second model, whose labels are given in its own order."""
    unknown = set() if answers_freely(task.edits[0].text) else set(task.labels) - set(labels)
    if unknown:
        raise BadInput(
            f"the second model does not know the label {min(unknown)!r} of {task.title}; its labels are "
            f"{', '.join(labels)}."
        )
    return (asked(e, labels, draws, seed) for e in chosen(task, per_label))


def asked(e: Edits, labels: Sequence[str], draws: int, seed: int) -> Conversation[Carried]:
    """The whole text, the reduced one and the random ones in one question."""
    last = e.edits[-1]
    short = e.text.keep([i in last.kept for i in range(len(e.text))])
    versions = (e.text, short, *random_versions(e.text, len(last.kept), draws, seed))
    same = yield from says_the_same(e, versions, labels)
    return Carried(e.label, float(same[1]), float(same[2:].mean()), float(same[0]))


def part(listed: Sequence[Reduced], found: Mapping[str, Sequence[Carried]]) -> Part:
    """All labels and each of them, where there are labels; `found` holds what the talks of each task returned."""
    measured = [task for task in listed if found.get(task.name)]
    tables = [_table(task, found[task.name]) for task in measured]
    return Part("transfer", _TITLE, tuple(tables), tuple(_claim(task, found[task.name]) for task in measured))


def _table(task: Reduced, found: Sequence[Carried]) -> Table:
    labels = () if answers_freely(task.edits[0].text) else dict.fromkeys(one.label for one in found)
    groups = {"all": list(found)} | {label: [one for one in found if one.label == label] for label in labels}
    lines = [
        Line(words, tuple(_cell(task, name, group, of) for group, of in groups.items()))
        for name, words in _LINES.items()
    ]
    title = f"{task.title}: per cent to which a second model says the same"
    return Table(f"transfer_{task.name}", title, tuple(groups), tuple(lines), "", 1)


def _cell(task: Reduced, name: str, group: str, of: Sequence[Carried]) -> Cell:
    published = PUBLISHED.get(task.name, "") if (name, group) == ("reduced", "all") else ""
    return Cell(estimate(100 * _column(of, name)), published)


def _column(found: Sequence[Carried], name: str) -> Floats:
    return np.array([getattr(one, name) for one in found])


def _claim(task: Reduced, found: Sequence[Carried]) -> Claim:
    gain = difference(_column(found, "reduced"), _column(found, "random"))
    return Claim(
        f"{task.title}: reduced texts transfer to another architecture (section 5.3), more often than random ones do",
        higher(gain),
        told({"share kept, reduced - random": gain}),
    )
