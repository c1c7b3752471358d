"""Figures 3, 4 and 5: what happens to the answer under other attention, shuffled or sought on purpose.

Median change of the answer over permutations (TVD), and the largest JSD of an attention that moves the answer by no
more than epsilon, by the largest weight of the model's own attention.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate, estimate
from assay.workflows.audit.result import BINS
from assay.workflows.audit.summary import FAR, column
from assay_studies.attention_is_not_explanation.performance import commonest, over_seeds, performance
from assay_studies.attention_is_not_explanation.tasks import BASE, PAPER, TITLES, Task
from assay_studies.claims import Claim, Evidence, above, claim
from assay_studies.specification import Key, PartSpec, Quantity, Subject, TableSpec, Values, on_each

_EDGES = np.linspace(0, 0.7, 8)
_JSD_BINS = tuple(f"{low:.1f} to {high:.1f}" for low, high in pairwise(_EDGES))
_WEIGHT_BINS = tuple(f"{low:g} to {high:g}" for low, high in BINS)
_SUMMARY = ("largest weight", "median TVD", "epsilon-max JSD", f"share with JSD > {FAR}")
_PEAK, _MANY, _MOST = 0.5, 0.25, 0.5
_NOTE = "JSD is at most ln 2 = 0.69; no attention that moves the answer by more than 0.05 is counted."
_FEW_LINES = 4  # below it distributions can be drawn as bars


def _measure(task: Task) -> Subject:
    measures: dict[Key, Quantity] = {}
    for label, (_, texts) in zip(_WEIGHT_BINS, task.audit.binned(), strict=True):
        measures["figure_3", label] = Values(column(texts, "median_tvd"))
        measures["figure_5", label] = Values(column(texts, "jsd"))
    for label, share in zip(_JSD_BINS, _shares(column(task.audit.texts, "jsd")), strict=True):
        measures["figure_4", label] = share
    group = task.audit.all
    summary = (group.max_attention, group.median_tvd, group.jsd, group.far)
    measures |= {("counterfactuals", name): found for name, found in zip(_SUMMARY, summary, strict=True)}
    return Subject(task.name, task.setting.title, measures, facts={"task": task})


def _shares(values: Floats) -> list[Estimate | None]:
    """The share of the texts in each bin of JSD."""
    places = np.clip(np.digitize(values, _EDGES) - 1, 0, len(_EDGES) - 2)
    return [estimate((places == i).astype(np.float64)) for i in range(len(_EDGES) - 1)]


def _tables(subjects: Sequence[Subject]) -> Iterator[TableSpec]:
    yield _table("figure_3", "Figure 3: median change of the answer (TVD) by the largest weight", _WEIGHT_BINS)
    yield TableSpec(
        name="figure_4",
        title="Figure 4: share of texts by epsilon-max JSD",
        rows={"figure_4": ""},
        columns=_JSD_BINS,
        layout="rows",
        digits=2,
        drawn="bars" if len(subjects) < _FEW_LINES else "dots",
    )
    yield _table("figure_5", "Figure 5: epsilon-max JSD by the largest weight", _WEIGHT_BINS)
    yield _table("counterfactuals", "Other attention, over all texts", _SUMMARY)


def _table(name: str, title: str, columns: tuple[str, ...]) -> TableSpec:
    return TableSpec(name=name, title=title, rows={name: ""}, columns=columns, layout="rows", digits=2)


def _claims(subject: Subject) -> Iterator[Claim]:
    """Of the paper's main model under the name of the dataset, of the others under their own."""
    task: Task = subject.facts["task"]
    main = task.setting.way == BASE
    about, others = (TITLES[task.setting.dataset], "") if main else (subject.title, "_others")
    learned: dict[str, Any] = {"over": task.over, "performance": performance(task), "commonest": commonest(task)}
    if (still := over_seeds(task, _still)) is not None:
        yield claim(
            f"{subject.title}: many texts with a weight above {_PEAK} answer the same when shuffled",
            Evidence(f"{still.n} such text{'' if still.n == 1 else 's'}", still, above(_MANY), **learned),
            digits=2,
            key=f"still{others}",
            about=about,
        )
    yield claim(
        f"{subject.title}: for most texts there is a very different attention (JSD > {FAR}) with the same answer",
        Evidence("share", over_seeds(task, _far), above(_MOST), **learned),
        digits=2,
        key=f"far{others}",
        about=about,
    )


def _still(task: Task) -> Floats:
    """Of texts with one heavy word, whether the median permutation moves the answer by less than 0.05; else NaN."""
    found = [(one.max_attention >= _PEAK, float(one.median_tvd < 0.05)) for one in task.audit.texts]
    return np.array([still if peaked else np.nan for peaked, still in found])


def _far(task: Task) -> Floats:
    """Whether a very different attention gives the same answer."""
    return np.array([float(one.jsd > FAR) for one in task.audit.texts])


PART = PartSpec(
    name="figures_3_to_5",
    title="Would other attention have given the same answer?",
    measure=on_each(_measure),
    tables=_tables,
    claims=[_claims],
    notes=lambda tasks: (
        "JSD is at most ln 2 = 0.69; no attention that moves the answer by more than 0.05 is counted.",
    ),
    published=PAPER,
)
