"""Table A3: how often the masked language model puts the word back that was taken away, and how sure it is then.

Compared without regard to case. A word that is no single token of the masked language model cannot come back. The last
line is the likelihood that the ten candidates of IM cover (section 2); only whole words are candidates here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from assay.explanations.case import Case
from assay.questions.base import Conversation
from assay.questions.erasers import each
from assay.questions.fill import Fill
from assay.statistics.arrays import Floats
from assay.text.text import Masks
from assay.text.variants import Variants
from assay_studies.claims import Claim, all_of, higher, told
from assay_studies.double_trouble.published import TABLE_A3
from assay_studies.double_trouble.tasks import COLUMNS, Task, left_out
from assay_studies.estimates import Estimate, estimate, ratio
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

_LINES = {
    "all": "exact match, per cent of all words",
    "highlights": "exact match, per cent of words that people marked",
    "likelihood": "likelihood of the first word where it matches",
    "mass": "likelihood of the first ten words, per cent",
}
_MANY, _SURE = 100 / 3, 0.7


@dataclass(frozen=True)
class Guess:
    """For each word of a text: whether the first candidate is that word, its likelihood, and that of all ten."""

    match: Masks
    first: Floats
    mass: Floats


def part(tasks: Iterable[Task]) -> Part:
    """The four lines for each dataset."""
    listed = list(tasks)
    found = {task.name: _found(task) for task in listed}
    lines = tuple(_line(key, label, found) for key, label in _LINES.items())
    title = "Table A3: words that the masked language model puts back"
    table = Table("table_a3", title, tuple(COLUMNS.values()), lines, "", 3, left_out(listed))
    claims = tuple(_claim(task.title, found[task.name]) for task in listed)
    return Part("table_a3", title, (table,), claims)


def guess(case: Case, model: str = "mlm") -> Conversation[Guess]:
    """What the masked language model would put in the place of each word."""
    text = case.text
    fills = yield Fill(Variants(text, each(len(text))), model=model, k=10)
    match = [fill.words[0][0].lower() == word.lower() for fill, word in zip(fills, text.words, strict=True)]
    chances = np.array([fill.probabilities[0].sum() for fill in fills])
    return Guess(np.array(match), np.array([fill.probabilities[0, 0] for fill in fills]), chances)


def _found(task: Task) -> dict[str, Estimate | None]:
    task.say(f"{task.title}: what the masked language model puts back")
    guesses = task.ask(guess(case) for case in task.cases)
    marked = _marked(task)
    return {
        "all": estimate(np.array([[100 * g.match.sum(), len(g.match)] for g in guesses]), ratio),
        "highlights": estimate(_within(guesses, marked), ratio),
        "likelihood": estimate(np.array([[g.first[g.match].sum(), g.match.sum()] for g in guesses]), ratio),
        "mass": estimate(np.array([[100 * g.mass.sum(), len(g.mass)] for g in guesses]), ratio),
    }


def _within(guesses: list[Guess], marked: list[Masks]) -> Floats:
    pairs = zip(guesses, marked, strict=True)
    return np.array([[100 * (g.match & m).sum(), m.sum()] for g, m in pairs])


def _marked(task: Task) -> list[Masks]:
    """The words that people marked, whatever is predicted."""
    gold = task.highlights[task.name]
    votes = [gold.votes(e, same_label=False) for e in task.maps("Random")]
    return [np.asarray(vote.any(axis=0)) for vote in votes]


def _line(key: str, label: str, found: dict[str, dict[str, Estimate | None]]) -> Line:
    return Line(label, tuple(Cell(found.get(task, {}).get(key), TABLE_A3[key][task]) for task in COLUMNS))


def _claim(title: str, found: dict[str, Estimate | None]) -> Claim:
    """What the paper calls often and high has no number; ours are a third of the words, and 0.7."""
    match, sure = found["all"], found["likelihood"]
    enough = [_over(match, _MANY), _over(sure, _SURE)]
    return Claim(
        f"{title}: the masked language model often puts the very word back (more than a third of the words), and is "
        f"sure of it (mean likelihood over {_SURE:g}) (section B)",
        all_of(enough),
        told({"per cent of words": match, "likelihood": sure}),
    )


def _over(found: Estimate | None, least: float) -> bool | None:
    if found is None:
        return None
    return higher(Estimate(found.value - least, found.low - least, found.high - least, found.n))
