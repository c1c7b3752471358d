"""Section 4: whether Insertion, Comprehensiveness and Sufficiency have the same bias as Deletion.

The paper says so "in principle" and measures nothing. Each check is run twice, deleting words and replacing them by the
masked language model; the gain of LOO_empty over IM, turned so that more is better, should be smaller when words are
replaced. The difference of the two gains is paired over texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from assay.checks.comprehensiveness import Comprehensiveness
from assay.checks.insertion import Insertion
from assay.checks.sufficiency import Sufficiency
from assay.questions.erasers import Delete, Eraser, Resample
from assay.registry.measured import Measured
from assay.statistics.arrays import Floats
from assay_studies.claims import Claim, higher, told
from assay_studies.double_trouble.tasks import Task
from assay_studies.estimates import difference, estimate
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

_CHECKS: Mapping[str, tuple[Callable[[Eraser], Any], int]] = {
    "Insertion": (lambda eraser: Insertion(eraser=eraser), 1),
    "Comprehensiveness": (lambda eraser: Comprehensiveness(eraser=eraser), 1),
    "Sufficiency": (lambda eraser: Sufficiency(eraser=eraser), -1),
}
_WAYS: Mapping[str, Eraser] = {"delete": Delete(), "replace": Resample()}
_METHODS = ("LOO_empty", "IM")
_TITLE = "Section 4: the bias of other checks that take words away"


def part(tasks: Iterable[Task]) -> Part:
    """What each check gives to both methods in both ways, and what the way of taking away is worth."""
    lines: list[Line] = []
    claims: list[Claim] = []
    for task in tasks:
        for name in _CHECKS:
            found = _found(task, name)
            lines += _lines(task.title, name, found)
            claims.append(_claim(task.title, name, found))
    columns = tuple(f"{method}, {way}" for way in _WAYS for method in _METHODS)
    note = "Sufficiency: lower is better; the others: higher is better. The paper has no numbers for these."
    table = Table("section_4", _TITLE, columns, tuple(lines), "", 4, (note,))
    return Part("section_4", _TITLE, (table,), tuple(claims))


def _found(task: Task, name: str) -> dict[tuple[str, str], Floats]:
    task.say(f"{task.title}: {name}")
    make, _ = _CHECKS[name]
    return {
        (way, method): np.array([Measured.of(told).score for told in task.ask(_talks(task, make(eraser), method))])
        for way, eraser in _WAYS.items()
        for method in _METHODS
    }


def _talks(task: Task, check: Any, method: str) -> Iterator[Any]:
    return (check.examine(e) for e in task.of_correct(method))


def _lines(title: str, name: str, found: Mapping[tuple[str, str], Floats]) -> Iterator[Line]:
    yield Line(f"{title}, {name}", tuple(Cell(estimate(scores)) for scores in found.values()))


def _claim(title: str, name: str, found: Mapping[tuple[str, str], Floats]) -> Claim:
    _, sign = _CHECKS[name]
    gains = {way: sign * (found[way, "LOO_empty"] - found[way, "IM"]) for way in _WAYS}
    favour = difference(gains["delete"], gains["replace"])
    return Claim(
        f"{title}: {name} favours the method that takes words away as it does itself (section 4)",
        higher(favour),
        told({"gain of LOO_empty over IM, deleting less replacing": favour}, 4),
    )
