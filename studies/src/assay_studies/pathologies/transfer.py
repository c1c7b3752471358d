"""Section 5.3: do the reduced texts of one model mislead another?

    share of the reduced texts to which a second model says what the first one says

In the paper, of fifty reduced SNLI pairs of each class by BiMPM, 81.3 % keep their label under the decomposable
attention model. Beside it here, which the paper has not: texts shortened at random to the same length (the mean over
several versions), and the whole texts, where two good models agree anyway. Labels are compared by their names, answers
in a context by their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.edits import Edits
from assay.models import TextModel
from assay.questions.base import Conversation
from assay.workflows.people.random_words import random_versions
from assay_studies.claims import Claim, Evidence, claim, higher
from assay_studies.pathologies.material import Reduced
from assay_studies.pathologies.same_answer import answers_freely, says_the_same
from assay_studies.pathologies.tasks import PAPER, Task
from assay_studies.rules import Learned
from assay_studies.specification import PartSpec, Subject, TableSpec, Values

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


def subject(task: Reduced, found: Sequence[Carried], learned: Learned | None = None) -> Subject:
    """All labels and each of them, where there are labels; `found` is what the talks returned.

    `learned` is how good the second model is, where it has labels.
    """
    labels = () if answers_freely(task.edits[0].text) else dict.fromkeys(one.label for one in found)
    groups = {"all": list(found)} | {label: [one for one in found if one.label == label] for label in labels}
    measures = {
        (name, group): Values(100 * np.array([getattr(one, name) for one in of]))
        for name in _LINES
        for group, of in groups.items()
    }
    return Subject(task.name, task.title, measures, facts={"learned": learned})


def _claims(subject: Subject) -> Iterator[Claim]:
    yield _transfers(subject).of_model(subject.facts.get("learned"))


def _transfers(subject: Subject) -> Claim:
    reduced, random = (Values(subject.values(name, "all").columns / 100) for name in ("reduced", "random"))
    return claim(
        f"{subject.title}: reduced texts transfer to another architecture (section 5.3), more often than random ones "
        "do",
        Evidence("share kept, reduced - random", reduced - random, higher),
        Evidence("share kept, reduced", reduced.estimate()),
        Evidence(
            "the ceiling: share of whole texts on which both agree",
            Values(subject.values("whole", "all").columns / 100).estimate(),
        ),
        key="transfer",
        about=subject.title,
    )


def _measure(tasks: Sequence[Task]) -> Iterator[Subject]:
    for task in tasks:
        if task.second is not None:
            asked = talks(task.reduced, task.second.labels, task.sizes.per_label, task.sizes.draws)
            yield subject(task.reduced, task.ask(asked, Engine(task.second)), _learned(task, task.second))


def _learned(task: Task, second: TextModel) -> Learned | None:
    """A reader of spans has no commonest class."""
    from assay_studies.pathologies.other_models import right  # trainers are only wanted where they train

    labels = [str(example.label) for example in task.examples]
    return None if second.target is not None else Learned.of(right(task, second), labels)


def _notes(tasks: Sequence[Task]) -> Iterator[str]:
    from assay_studies.pathologies.other_models import described  # trainers are only wanted where they train

    return (described(task, task.second) for task in tasks if task.second is not None)


PART = PartSpec(
    name="transfer",
    title="Section 5.3: reduced texts under a second architecture",
    measure=_measure,
    tables=[
        TableSpec(
            name="transfer_{name}",
            title="{title}: per cent to which a second model says the same",
            rows=_LINES,
            columns=lambda subject: tuple(dict.fromkeys(key[1] for key in subject.measures)),
            layout="tables",
            digits=1,
            published="transfer",
        )
    ],
    claims=[_claims],
    notes=_notes,
    published=PAPER,
    trains=True,
)
