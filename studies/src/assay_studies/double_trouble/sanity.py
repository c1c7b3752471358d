"""Table A5: IM changes less than LOO_empty when the classification layer is drawn anew.

The weight of the last layer is drawn after Glorot and its bias kept, as in the released code; the label explained stays
the same. Per text: the per cent of words whose score changes its sign, and the mean absolute change of a score, each
map divided by its largest absolute score so that it lies in [-1, 1]; below it the change in log2-odds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import log

import numpy as np

from assay.checks.randomization import Randomization
from assay.explanations.token_scores import TokenScores
from assay.statistics.arrays import Floats
from assay_studies.claims import Claim, lower, told
from assay_studies.double_trouble.magnitude import normalised
from assay_studies.double_trouble.published import TABLE_A5
from assay_studies.double_trouble.tasks import Task, spread
from assay_studies.estimates import difference, estimate
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

Found = dict[tuple[str, str], Floats]
_METHODS = ("LOO_empty", "IM")
_LINES = {
    "signs": "per cent of words that change sign",
    "change": "mean absolute change of a score",
    "raw": "the same in log2-odds",
}


def part(tasks: Iterable[Task]) -> Part:
    """Both criteria for both methods."""
    listed = list(tasks)
    found = {task.name: _found(task) for task in listed}
    lines = [_line(what, m, found, listed) for what in _LINES for m in _METHODS]
    title = "Table A5: change of the scores when the classification layer is randomised"
    table = Table("table_a5", title, tuple(task.title for task in listed), tuple(lines), "higher", 3)
    claims = [claim for task in listed for claim in _claims(task.title, found[task.name])]
    return Part("table_a5", title, (table,), tuple(claims))


def _found(task: Task) -> Found:
    task.say(f"{task.title}: explanations of randomised models")
    return {(what, m): column for m in _METHODS for what, column in _changes(task, m).items()}


def _changes(task: Task, method: str) -> dict[str, Floats]:
    maps = spread(task.maps(method), task.sizes.sanity_texts)
    check = Randomization(part="released", seeds=tuple(range(task.sizes.sanity_seeds)))
    others = task.ask(check.against(e) for e in maps)
    facts = [check.measure(e, other).facts for e, other in zip(maps, others, strict=True)]
    moved = [_moved(e, other["released"]) for e, other in zip(maps, others, strict=True)]
    return {
        "signs": 100 * np.array([fact["sign_changes"] for fact in facts]),
        "change": np.array(moved),
        "raw": np.array([fact["change"] for fact in facts]) / log(2),
    }


def _moved(e: TokenScores, others: Sequence[TokenScores]) -> float:
    """The mean absolute change over words and randomised models."""
    return float(np.mean([np.abs(normalised(e) - normalised(other)) for other in others]))


def _line(what: str, method: str, found: dict[str, Found], tasks: Sequence[Task]) -> Line:
    paper = TABLE_A5.get((what, method), {})
    cells = tuple(Cell(estimate(found[task.name][what, method]), paper.get(task.name, "")) for task in tasks)
    return Line(f"{method}: {_LINES[what]}", cells)


def _claims(title: str, found: Found) -> Iterator[Claim]:
    said = {"signs": "change their sign less often", "change": "change less"}
    for what, words in said.items():
        gap = difference(found[what, "IM"], found[what, "LOO_empty"])
        yield Claim(
            f"{title}: scores of IM {words} than those of LOO_empty when the classifier is randomised (Table A5)",
            lower(gap),
            told({"IM - LOO_empty": gap}),
        )
