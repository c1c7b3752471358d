"""Table 1: Deletion prefers the method that deletes, Deletion_BERT the one that replaces.

Areas as in the released code (variant="released"), on right predictions only; under each the same area by the paper's
own words, with the start and up to 20 % of the words. Deletion_BERT takes one word after the other and fills it by the
likeliest other word, the earlier ones staying, as the released code does; beside it all that are gone are filled at
once. The paper does not have MultiRC here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from assay.checks.deletion import Deletion
from assay.explanations.token_scores import TokenScores
from assay.questions.erasers import Delete, Eraser, Resample
from assay.statistics.arrays import Floats
from assay.statistics.curves import Variant
from assay_studies.claims import Claim, all_of, higher, lower, told
from assay_studies.double_trouble.methods import COMPARED, wanted
from assay_studies.double_trouble.published import TABLE_1
from assay_studies.double_trouble.tasks import Task
from assay_studies.estimates import Estimate, difference, estimate
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

Areas = dict[str, Floats]
METRICS: Mapping[str, Eraser] = {"Deletion": Delete(), "Deletion_BERT": Resample(order="one_by_one")}
_AT_ONCE = "Deletion_BERT, all at once"
_ALL = {**METRICS, _AT_ONCE: Resample()}
_COLUMNS = wanted("sst2")


def part(tasks: Iterable[Task]) -> Part:
    """The table, and whether the order of IM and LOO_empty turns around."""
    lines: list[Line] = []
    claims: list[Claim] = []
    for task in tasks:
        found = {metric: areas(task, wanted(task.name), metric) for metric in _ALL}
        lines += [line for metric in _ALL for line in _lines(task, metric, found[metric])]
        claims += _claims(task, found) if (task.name, "Deletion") in TABLE_1 else [_turned(task, found)]
    notes = ("Areas of the released code leave out the start; they depend on the length of a text.",)
    title = "Table 1: area under the probability as words go"
    return Part("table_1", title, (Table("table_1", title, _COLUMNS, tuple(lines), "lower", 4, notes),), tuple(claims))


def areas(task: Task, methods: Iterable[str], metric: str, variant: Variant = "released") -> Areas:
    """For each method the area of every text that is predicted right."""
    task.say(f"{task.title}: {metric}")
    check = Deletion(eraser=_ALL[metric], variant=variant)
    return {name: _examined(task, check, task.of_correct(name)) for name in methods}


def _examined(task: Task, check: Deletion, maps: Iterable[TokenScores]) -> Floats:
    return np.array(task.ask(check.examine(e) for e in maps))


def _lines(task: Task, metric: str, found: Areas) -> Iterator[Line]:
    paper = TABLE_1.get((task.name, metric), {})
    yield Line(f"{task.title}, {metric}", tuple(_cell(found, name, paper.get(name, "")) for name in _COLUMNS))
    whole = areas(task, found, metric, "paper")
    yield Line(f"{task.title}, {metric}, whole curve", tuple(_cell(whole, name, "") for name in _COLUMNS))


def _cell(found: Areas, name: str, published: str) -> Cell:
    return Cell(estimate(found[name]) if name in found else None, published)


def _claims(task: Task, found: Mapping[str, Areas]) -> Iterator[Claim]:
    deletion, with_mlm = found["Deletion"], found["Deletion_BERT"]
    best = _against(deletion, "LOO_empty")
    yield Claim(
        f"{task.title}: under Deletion LOO_empty is the best of IM and the three LOO (Table 1)",
        all_of(map(lower, best.values())),
        told(best, 4),
    )
    worst = _against(deletion, "IM")
    yield Claim(
        f"{task.title}: under Deletion IM is the worst of the four (Table 1)",
        all_of(map(higher, worst.values())),
        told(worst, 4),
    )
    first = _against(with_mlm, "IM")
    yield Claim(
        f"{task.title}: under Deletion_BERT IM is the best of the four (Table 1)",
        all_of(map(lower, first.values())),
        told(first, 4),
    )
    yield _turned(task, found)


def _turned(task: Task, found: Mapping[str, Areas]) -> Claim:
    turned = {metric: difference(found[metric]["IM"], found[metric]["LOO_empty"]) for metric in METRICS}
    where = "section 4" if (task.name, "Deletion") in TABLE_1 else "section 4, which does not measure it here"
    return Claim(
        f"{task.title}: the order of IM and LOO_empty turns around between Deletion and Deletion_BERT ({where})",
        all_of([higher(turned["Deletion"]), lower(turned["Deletion_BERT"])]),
        told({f"IM - LOO_empty under {metric}": d for metric, d in turned.items()}, 4),
    )


def _against(found: Areas, method: str) -> dict[str, Estimate | None]:
    """The method less each of the other three."""
    others = [name for name in COMPARED if name != method]
    return {f"{method} - {name}": difference(found[method], found[name]) for name in others}
