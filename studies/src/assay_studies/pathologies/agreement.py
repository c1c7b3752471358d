"""Section 2.1: does the gradient choose the same word for removal as trying out every word?

    gradient      argmin_i  (d f(y | x) / d e_i) . e_i
    exhaustive    argmin_i  f(y | x) - f(y | x without word i)

The paper uses the gradient "as it selects the same words for removal as an exhaustive search", without a number. Both
are asked here at every step of the way that each text was reduced, in log-odds, which order the words of a text as
probabilities do. A text counts once, by the mean over its steps; by chance one of n words is hit with 1/n. `rank` is
where the gradient's word stands in the exhaustive order, 0 for the first and 1 for the last; words that are as good as
the first, up to rounding, are first too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.explanations.edits import Edits
from assay.questions.base import Aim, Conversation
from assay.questions.erasers import each
from assay.questions.gradients import InputGradient
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats
from assay.text.text import Text
from assay.text.variants import Variants
from assay_studies.claims import Claim, Evidence, claim, higher
from assay_studies.pathologies.material import Reduced
from assay_studies.pathologies.tasks import PAPER, Task
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_STEADY = 1e-5  # differences below this share of the largest may be rounding inside the model
_TITLE = "Section 2.1: gradient and exhaustive search choose the same word"
LINES = {
    "first": "per cent the same word, whole texts",
    "same": "per cent the same word, all steps",
    "chance": "per cent by chance, all steps",
    "rank": "rank of the gradient's word in the exhaustive order, 0 to 100",
}


@dataclass(frozen=True)
class Agreement:
    """Of one text: whether the first choice is the same, and means over all steps; all in per cent."""

    first: float
    same: float
    chance: float
    rank: float


def talks(task: Reduced) -> Iterator[Conversation[Agreement | None]]:
    """One conversation for each text, with the model that was reduced; texts of one word leave no choice."""
    return (asked(e) for e in task.edits)


def asked(e: Edits) -> Conversation[Agreement | None]:
    """All steps in two questions: the gradients of all versions, and all versions without each of their words."""
    steps = [version for version in versions(e) if len(version) > 1]
    if not steps:
        return None
    gradients = yield InputGradient(*steps, aim=Aim(e.target))
    answers = yield Predict(*steps, *(Variants(step, each(len(step))) for step in steps))
    values = answers.value(e.target)
    without = np.split(values[len(steps) :], np.cumsum([len(step) for step in steps])[:-1])
    steps_in_turn = zip(gradients, values[: len(steps)], without, strict=True)
    return _agreement([(g.scores[0], whole - rest) for g, whole, rest in steps_in_turn])


def versions(e: Edits) -> list[Text]:
    """The text at every step of the way."""
    return [e.text.keep([i in edit.kept for i in range(len(e.text))]) for edit in e.edits]


def _agreement(pairs: Sequence[tuple[Floats, Floats]]) -> Agreement:
    ranks = [rank(a, b) for a, b in pairs]
    same = [float(place == 0) for place in ranks]
    chance = [1 / len(a) for a, _ in pairs]
    return Agreement(100 * same[0], *(100 * float(np.mean(values)) for values in (same, chance, ranks)))


def rank(gradient: Floats, exhaustive: Floats) -> float:
    """The share of the other words that exhaustive search would rather remove than the gradient's choice."""
    slack = _STEADY * float(np.abs(exhaustive).max())
    chosen = exhaustive[np.argmin(gradient)]
    return float(np.count_nonzero(exhaustive < chosen - slack) / (len(exhaustive) - 1))


def measures(found: Iterable[Agreement | None]) -> dict[str, Values]:
    """What is measured on each text that leaves a choice, by the keys of the lines."""
    known = [one for one in found if one is not None]
    return {name: Values(np.array([getattr(one, name) for one in known])) for name in LINES}


def same_word(title: str, found: Mapping[str, Values], key: str = "same_word") -> Claim:
    """That both choose the same word; `found` are the measures of one model."""
    same, chance = Values(found["same"].columns / 100), Values(found["chance"].columns / 100)
    return claim(
        f"{title}: gradient and exhaustive search choose the same word most of the time (section 2.1)",
        Evidence("share of the steps less one half", Values(same.columns - 0.5).estimate(), higher),
        Evidence("share less that of chance", same - chance),
        key=key,
        about=title,
    )


def subject(task: Reduced, found: Iterable[Agreement | None]) -> Subject:
    """`found` is what the talks returned."""
    return Subject(task.name, task.title, measures(found))


def _claims(subject: Subject) -> Iterator[Claim]:
    yield same_word(subject.title, {name: subject.values(name) for name in LINES})


def _measure(task: Task) -> Subject:
    return subject(task.reduced, task.ask(talks(task.reduced)))


PART = PartSpec(
    name="agreement",
    title=_TITLE,
    measure=on_each(_measure),
    tables=[TableSpec(name="agreement", title=_TITLE, rows=LINES, digits=1)],
    claims=[_claims],
    published=PAPER,
)
