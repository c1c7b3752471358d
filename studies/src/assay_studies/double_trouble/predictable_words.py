"""Table A3: how often the masked language model puts the word back that was taken away, and how sure it is then.

Compared without regard to case. A word that is no single token of the masked language model cannot come back. The last
line is the likelihood that the ten candidates of IM cover (section 2); only whole words are candidates here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from assay.explanations.case import Case
from assay.questions.base import Conversation
from assay.questions.erasers import each
from assay.questions.fill import Fill
from assay.statistics.arrays import Floats
from assay.statistics.intervals import ratio
from assay.text.text import Masks
from assay.text.variants import Variants
from assay_studies.claims import Claim, Evidence, above, claim
from assay_studies.double_trouble.tasks import DATASETS, NOT_MEASURED, PAPER, Task
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_LINES = {
    "all": "exact match, per cent of all words",
    "highlights": "exact match, per cent of words that people marked",
    "likelihood": "likelihood of the first word where it matches",
    "mass": "likelihood of the first ten words, per cent",
}
_MANY, _SURE = 100 / 3, 0.7  # what the paper calls often and high has no number; ours are a third of the words, and 0.7
_TITLE = "Table A3: words that the masked language model puts back"


@dataclass(frozen=True)
class Guess:
    """For each word of a text: whether the first candidate is that word, its likelihood, and that of all ten."""

    match: Masks
    first: Floats
    mass: Floats


def guess(case: Case, model: str = "mlm") -> Conversation[Guess]:
    """What the masked language model would put in the place of each word."""
    text = case.text
    fills = yield Fill(Variants(text, each(len(text))), model=model, k=10)
    match = [fill.words[0][0].lower() == word.lower() for fill, word in zip(fills, text.words, strict=True)]
    chances = np.array([fill.probabilities[0].sum() for fill in fills])
    return Guess(np.array(match), np.array([fill.probabilities[0, 0] for fill in fills]), chances)


def put_back(guesses: list[Guess]) -> Values:
    """The per cent of all words that come back."""
    return Values(np.array([[100 * g.match.sum(), len(g.match)] for g in guesses]), ratio)


def _measure(task: Task) -> Subject:
    task.say(f"{task.title}: what the masked language model puts back")
    guesses = task.ask(map(guess, task.cases))
    marked = zip(guesses, _marked(task), strict=True)
    measures = {
        "all": put_back(guesses),
        "highlights": Values(np.array([[100 * (g.match & m).sum(), m.sum()] for g, m in marked]), ratio),
        "likelihood": Values(np.array([[g.first[g.match].sum(), g.match.sum()] for g in guesses]), ratio),
        "mass": Values(np.array([[100 * g.mass.sum(), len(g.mass)] for g in guesses]), ratio),
    }
    return Subject(task.name, task.title, measures)


def _marked(task: Task) -> list[Masks]:
    """The words that people marked, whatever is predicted."""
    gold = task.highlights[task.name]
    votes = [gold.votes(e, same_label=False) for e in task.maps("Random")]
    return [np.asarray(vote.any(axis=0)) for vote in votes]


def _claims(subject: Subject) -> Iterator[Claim]:
    yield claim(
        f"{subject.title}: the masked language model often puts the very word back (more than a third of the words), "
        f"and is sure of it (mean likelihood over {_SURE:g}) (section B)",
        Evidence("per cent of words", subject.estimate("all"), above(_MANY), _printed(subject, "all")),
        Evidence("likelihood", subject.estimate("likelihood"), above(_SURE), _printed(subject, "likelihood")),
        key="put_back",
        about=subject.title,
    )


def _printed(subject: Subject, line: str) -> str:
    return PAPER.text("table_a3", line, subject.name)


PART = PartSpec(
    name="table_a3",
    title=_TITLE,
    measure=on_each(_measure),
    tables=[TableSpec(name="table_a3", title=_TITLE, rows=_LINES, columns=DATASETS, missing=NOT_MEASURED)],
    claims=[_claims],
    published=PAPER,
)
