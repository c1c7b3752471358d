"""Figures 3, 4 and 5: what happens to the answer under other attention, shuffled or sought on purpose.

Median change of the answer over permutations (TVD), and the largest JSD of an attention that moves the answer by no
more than epsilon, by the largest weight of the model's own attention.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate, estimate
from assay.workflows.audit.audited import AuditedText
from assay.workflows.audit.result import BINS
from assay.workflows.audit.summary import FAR, column
from assay_studies.attention_is_not_explanation.tasks import Task
from assay_studies.claims import Claim
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

_EDGES = np.linspace(0, 0.7, 8)
_PEAK = 0.5


def part(listed: Sequence[Task]) -> Part:
    tables = (
        _by_peak(listed, "figure_3", "median_tvd", "Figure 3: median change of the answer (TVD) by the largest weight"),
        _distribution(listed),
        _by_peak(listed, "figure_5", "jsd", "Figure 5: epsilon-max JSD by the largest weight"),
        _summary(listed),
    )
    claims = [claim for task in listed for claim in _claims(task)]
    note = "JSD is at most ln 2 = 0.69; no attention that moves the answer by more than 0.05 is counted."
    return Part("figures_3_to_5", "Would other attention have given the same answer?", tables, tuple(claims), (note,))


def _by_peak(listed: Sequence[Task], name: str, number: str, title: str) -> Table:
    columns = tuple(f"{low:g} to {high:g}" for low, high in BINS)
    lines = [
        Line(task.setting.title, tuple(Cell(estimate(column(texts, number))) for _, texts in task.audit.binned()))
        for task in listed
    ]
    return Table(name, title, columns, tuple(lines), digits=2)


def _distribution(listed: Sequence[Task]) -> Table:
    columns = tuple(f"{low:.1f} to {high:.1f}" for low, high in pairwise(_EDGES))
    lines = [Line(task.setting.title, tuple(map(Cell, _shares(column(task.audit.texts, "jsd"))))) for task in listed]
    title = "Figure 4: share of texts by epsilon-max JSD"
    return Table("figure_4", title, columns, tuple(lines), digits=2, drawn="bars" if len(lines) < 4 else "dots")


def _shares(values: Floats) -> list[Estimate | None]:
    places = np.clip(np.digitize(values, _EDGES) - 1, 0, len(_EDGES) - 2)
    return [estimate((places == i).astype(np.float64)) for i in range(len(_EDGES) - 1)]


def _summary(listed: Sequence[Task]) -> Table:
    columns = ("largest weight", "median TVD", "epsilon-max JSD", f"share with JSD > {FAR}")
    lines = []
    for task in listed:
        group = task.audit.all
        cells = (group.max_attention, group.median_tvd, group.jsd, group.far)
        lines.append(Line(task.setting.title, tuple(map(Cell, cells))))
    return Table("counterfactuals", "Other attention, over all texts", columns, tuple(lines), digits=2)


def _claims(task: Task) -> Iterable[Claim]:
    texts = task.audit.texts
    if (still := _still(texts)) is not None:
        yield Claim(
            f"{task.setting.title}: many texts with a weight above {_PEAK} answer the same when shuffled",
            None if still.few else still.low > 0.25,
            f"{still.n} such text{'' if still.n == 1 else 's'}: {still.shown(2)}",
        )
    far = task.audit.all.far
    yield Claim(
        f"{task.setting.title}: for most texts there is a very different attention (JSD > {FAR}) with the same answer",
        None if far.few else far.low > 0.5 or (False if far.high < 0.5 else None),
        far.shown(2),
    )


def _still(texts: Sequence[AuditedText]) -> Estimate | None:
    """Of texts with one heavy word, the share whose answer the median permutation moves by less than 0.05."""
    peaked = [one for one in texts if one.max_attention >= _PEAK]
    return estimate(np.array([one.median_tvd < 0.05 for one in peaked], dtype=np.float64)) if peaked else None
