"""Tables 4 and 5, Figures 5 and 6: models trained to say the same and to look elsewhere.

For each lambda the adversary's F1 and its mean distance from the base: TVD of the answers, JSD of the attention. A
convex curve (JSD across, TVD up) says that attention can be moved far before the answers follow. Beside the curve, as
in the paper, stand models of other seeds and with uniform attention, and attention sought text by text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from assay.statistics.arrays import Floats
from assay.statistics.intervals import mean_over_seeds
from assay.text.text import Masks
from assay_studies.attention_is_not_not_explanation.cells import cell, decided
from assay_studies.attention_is_not_not_explanation.published import TABLE_4, TABLE_5, Adversary
from assay_studies.attention_is_not_not_explanation.tasks import Task
from assay_studies.claims import Claim
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

_COLUMNS = ("F1", "TVD", "JSD")
_ACROSS_AND_UP = ("attention JSD", "answer TVD")
_MARKS = ("other seeds", "uniform attention", "sought text by text")
_READ = ("Across: how far attention is moved (at most ln 2 = 0.693). Up: how far the answers follow.",)


def part(listed: Sequence[Task]) -> Part:
    tables = (_best(listed), *map(_sweep, listed), *map(_curve, listed), *map(_classes, listed))
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
    """Table 5."""
    lines = []
    for row in task.adversaries.table():
        paper = _at(TABLE_5.get(task.dataset, ()), row["lambda"])
        theirs = [paper.f1, paper.tvd, paper.jsd] if paper else [None] * 3
        numbers = zip((row["f1"], row["tvd"], row["jsd"]), theirs, strict=True)
        lines.append(Line(f"lambda {row['lambda']:g}", tuple(cell(a, len(task.split.test), b) for a, b in numbers)))
    return Table(f"table_5_{task.dataset}", f"Table 5, {task.title}: adversaries", _COLUMNS, tuple(lines))


def _curve(task: Task) -> Table:
    """Figure 5: all lambdas, ours and the paper's."""
    paper, ours = TABLE_5.get(task.dataset, ()), {row["lambda"]: row for row in task.adversaries.table()}
    lines = []
    for value in sorted({*ours, *(one.weight for one in paper)}):
        theirs, own, n = _at(paper, value), ours.get(value, {}), len(task.split.test)
        cells = (
            cell(own.get("jsd"), n, theirs.jsd if theirs else None),
            cell(own.get("tvd"), n, theirs.tvd if theirs else None),
        )
        lines.append(Line(_named(value), cells))
    lines += _marked(task, [np.ones(len(task.adversaries.predicted), dtype=bool)])
    title = f"Figure 5, {task.title}: distance from the base as lambda goes"
    return Table(
        f"figure_5_{task.dataset}", title, _ACROSS_AND_UP, tuple(lines), notes=_READ, drawn="curves", marks=_MARKS
    )


def _classes(task: Task) -> Table:
    """Figure 6: the same by the class that the base predicts."""
    curves, said = task.adversaries.by_class(), task.adversaries.predicted
    lines = [
        Line(_named(value), tuple(c for curve in curves.values() for c in _cells(curve.jsd[i], curve.tvd[i])))
        for i, value in enumerate(task.adversaries.lambdas)
    ]
    lines += _marked(task, [said == i for i, label in enumerate(task.adversaries.base.labels) if label in curves])
    columns = tuple(f"{axis}, predicted {label}" for label in curves for axis in _ACROSS_AND_UP)
    title = f"Figure 6, {task.title}: the same by predicted class"
    return Table(f"figure_6_{task.dataset}", title, columns, tuple(lines), notes=_READ, drawn="curves", marks=_MARKS)


def _marked(task: Task, groups: Sequence[Masks]) -> Iterator[Line]:
    """How far other seeds, uniform attention and sought attention are from the base, for each group of texts."""
    seeds, flat, found = task.seeds, task.uniform, task.sought
    every = np.arange(len(task.adversaries.predicted))
    apart = (
        (every, seeds.median, seeds.tvd.mean(axis=0)),
        (every, flat.jsd.mean(axis=0), flat.tvd.mean(axis=0)),
        (found.places, found.jsd, found.tvd),
    )
    for name, (places, jsd, tvd) in zip(_MARKS, apart, strict=True):
        yield Line(name, tuple(c for own in groups for c in _cells(jsd[own[places]], tvd[own[places]])))


def _cells(jsd: Floats, tvd: Floats) -> tuple[Cell, Cell]:
    if not len(jsd):
        return Cell(), Cell()
    return cell(mean_over_seeds(jsd), len(jsd)), cell(mean_over_seeds(tvd), len(tvd))


def _named(value: float) -> str:
    """A lambda as the paper writes it: 5.25e-4, 0.001."""
    short = f"{value:.2e}".replace(".00e", "e").replace("0e", "e").replace("e-0", "e-")
    return f"λ {short if 0 < value < 1e-3 else f'{value:g}'}"


def _at(known: Sequence[Adversary], value: float) -> Adversary | None:
    return next((one for one in known if abs(one.weight - value) < 1e-12), None)


def _claims(task: Task) -> Iterator[Claim]:
    best, found = task.adversaries.best(), task.adversaries
    told = f"best F1 {best['f1'].shown()} at JSD {best['jsd'].shown()}" if best else "no lambda gave a JSD above 0.4"
    near = None if best is None else best["f1"].high >= found.base.f1.value - 0.03
    text = f"{task.title}: adversaries can be trained that look elsewhere (JSD > 0.4) and do as well (F1 within 0.03)"
    yield Claim(text, False if best is None else near, f"{told}; base F1 {found.base.f1.shown()}")
    shape = {"convex": True, "concave": False}.get(found.shape)
    yield Claim(f"{task.title}: the curve of TVD over JSD is convex", shape, f"bend {found.bend.shown(sign='+')}")
    gap = task.sought.below(found.curve)
    text = f"{task.title}: attention sought text by text moves answers less than a model trained to look as far away"
    yield Claim(text, decided(gap), f"TVD {gap.shown(sign='+')} less")
