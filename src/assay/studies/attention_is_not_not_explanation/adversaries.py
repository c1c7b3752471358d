"""Tables 4 and 5, Figures 5 and 6: models trained to say the same and to look elsewhere.

For each lambda the adversary's F1 and its mean distance from the base: TVD of the answers, JSD of the attention. A
convex curve (JSD across, TVD up) says that attention can be moved far before the answers follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.attention_tests.numbers import mean
from assay.studies.attention_is_not_not_explanation.cells import cell
from assay.studies.attention_is_not_not_explanation.published import TABLE_4, TABLE_5, Adversary
from assay.studies.attention_is_not_not_explanation.tasks import Task
from assay.studies.claims import Claim
from assay.studies.findings import Part
from assay.studies.tables import Line, Table

_COLUMNS = ("F1", "TVD", "JSD")


def part(listed: Sequence[Task]) -> Part:
    tables = (_best(listed), *map(_sweep, listed), *map(_classes, listed))
    claims = tuple(claim for task in listed for claim in _claims(task))
    return Part("tables_4_and_5", "Can a model say the same and look elsewhere?", tables, claims)


def _best(listed: Sequence[Task]) -> Table:
    """Table 4: the best adversary whose mean JSD is above 0.4."""
    lines = []
    for task in listed:
        row, paper, n = task.adversaries.best(), TABLE_4.get(task.dataset), len(task.split.test)
        ours = [row["f1"], row["tvd"], row["jsd"]] if row else [None] * 3
        theirs = [paper.f1, paper.tvd, paper.jsd] if paper else [None] * 3
        cells = tuple(cell(number, n, value) for number, value in zip(ours, theirs, strict=True))
        lines.append(Line(f"{task.title}, lambda {row['lambda']:g}" if row else f"{task.title}, none", cells))
    title = "Table 4: the adversary of best F1 among those with a mean JSD above 0.4"
    return Table("table_4", title, _COLUMNS, tuple(lines))


def _sweep(task: Task) -> Table:
    """Table 5 and Figure 5."""
    lines = []
    for row in task.adversaries.table():
        paper = _at(TABLE_5.get(task.dataset, ()), row["lambda"])
        theirs = [paper.f1, paper.tvd, paper.jsd] if paper else [None] * 3
        numbers = zip((row["f1"], row["tvd"], row["jsd"]), theirs, strict=True)
        lines.append(Line(f"lambda {row['lambda']:g}", tuple(cell(a, len(task.split.test), b) for a, b in numbers)))
    return Table(f"table_5_{task.dataset}", f"Table 5, {task.title}: adversaries", _COLUMNS, tuple(lines))


def _classes(task: Task) -> Table:
    """Figure 6: the same by the class that the base predicts."""
    columns, lines = [], []
    curves = task.adversaries.by_class()
    for label in curves:
        columns += [f"TVD, {label}", f"JSD, {label}"]
    for i, value in enumerate(task.adversaries.lambdas):
        cells = [
            cell(mean(numbers[i]), numbers.shape[1]) for curve in curves.values() for numbers in (curve.tvd, curve.jsd)
        ]
        lines.append(Line(f"lambda {value:g}", tuple(cells)))
    title = f"Figure 6, {task.title}: adversaries by predicted class"
    return Table(f"figure_6_{task.dataset}", title, tuple(columns), tuple(lines))


def _at(known: Sequence[Adversary], value: float) -> Adversary | None:
    return next((one for one in known if abs(one.weight - value) < 1e-12), None)


def _claims(task: Task) -> Iterator[Claim]:
    best, found = task.adversaries.best(), task.adversaries
    told = f"best F1 {best['f1'].shown()} at JSD {best['jsd'].shown()}" if best else "no lambda gave a JSD above 0.4"
    near = None if best is None else best["f1"].high >= found.base.f1.value - 0.03
    text = f"{task.title}: adversaries can be trained that look elsewhere (JSD > 0.4) and do as well (F1 within 0.03)"
    yield Claim(text, False if best is None else near, f"{told}; base F1 {found.base.f1.shown()}")
    shape = {"convex": True, "concave": False}.get(found.shape)
    yield Claim(f"{task.title}: the curve of TVD over JSD is convex", shape, f"bend {found.bend.shown('+')}")
