"""Table 2 and Figures 2, 6, 7, 8: does attention rank the words as gradients and leave-one-out do?

Kendall's tau-b per text, by the class that is predicted; the share of texts where it is significant (p <= 0.05). Texts
on which it is not defined, because an attention has become constant, are counted and left out.

6    tau(gradients, leave-one-out) - tau(attention, leave-one-out)       BiLSTM, additive attention
7    tau(gradients, leave-one-out) - tau(attention, gradients)           the same
8    tau(attention, leave-one-out) of the average encoder - that of the BiLSTM

Figures 6 to 8 are means over texts of paired differences. The paper draws them without numbers: beside ours stand the
differences of the means that the authors released. The mean over datasets is of those whose models learned, and beside
it stands that of the released numbers on the same datasets; the captions' means are of datasets that are not here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from assay.models.own.attentive.config import EncoderName
from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate, estimate
from assay.workflows.audit.summary import Group
from assay_studies.attention_is_not_explanation.agreement_claims import claims, mean_claims
from assay_studies.attention_is_not_explanation.performance import commonest, performance
from assay_studies.attention_is_not_explanation.tasks import PAPER, TITLES, Task, by_dataset, ways
from assay_studies.attention_is_not_explanation.taus import (
    FIGURES,
    MEAN,
    TauDifference,
    more,
    released,
    released_mean,
    tau_of,
    taus,
)
from assay_studies.rules import has_learned, mean_of
from assay_studies.specification import Key, PartSpec, Quantity, Subject, TableSpec
from assay_studies.tables import Cell

_BINS = np.linspace(-1, 1, 11).round(1) + 0.0
_BIN_NAMES = tuple(f"{low:.1f}…{high:.1f}" for low, high in pairwise(_BINS))
_PAIRS = {
    "attention_gradient": "attention and gradients",
    "attention_loo": "attention and leave-one-out",
    "gradient_loo": "gradients and leave-one-out",
}
_BY_CLASS: dict[str, tuple[str, EncoderName]] = {  # the columns of Table 2: which tau of which encoder
    "gradient, lstm": ("attention_gradient", "lstm"),
    "gradient, average": ("attention_gradient", "average"),
    "leave-one-out, lstm": ("attention_loo", "lstm"),
}


def _measure(listed: Sequence[Task]) -> Iterator[Subject]:
    """One subject for each dataset, one for each model, and one for the mean of all datasets."""
    datasets = [_dataset(name, tasks) for name, tasks in by_dataset(listed).items()]
    yield from datasets
    for task in listed:
        yield Subject(task.name, task.setting.title, _significant(task))
    yield Subject(MEAN, MEAN, {figure: _mean_of(datasets, figure) for figure in FIGURES}, facts={"mean": True})
    means = {figure: Cell(published=PAPER.text("figures_6_to_8", figure, "mean of all")) for figure in FIGURES}
    yield Subject("caption", "the captions, all their datasets", means)


def _mean_of(datasets: Sequence[Subject], figure: str) -> Cell:
    """Ours and the released mean over the same datasets: those of which both models of the difference learned."""
    needed = {FIGURES[figure].one[1], FIGURES[figure].less[1]}
    learned = (one for one in datasets if needed <= one.facts["learned"])
    cells = [one.measures[figure,] for one in learned if (figure,) in one.measures]
    both = [cell for cell in cells if isinstance(cell, Cell) and cell.ours is not None and cell.published]
    released = f"{np.mean([float(cell.published) for cell in both]):.3f}" if both else ""
    return Cell(mean_of([cell.ours for cell in both if cell.ours is not None]), released)


def _dataset(name: str, tasks: Sequence[Task]) -> Subject:
    measures: dict[Key, Quantity] = {}
    for task in tasks:
        for pair in _PAIRS:
            measures[f"tau_{pair}", *task.setting.way] = Cell(tau_of(task, pair), released(task, pair))
    additive = {t.setting.encoder: t for t in tasks if t.setting.attention == "additive"}
    if (base := additive.get("lstm")) is not None:
        measures |= _by_class(base, additive.get("average"))
        measures |= {figure: _difference(about, additive) for figure, about in FIGURES.items()}
        for pair in ("attention_gradient", "gradient_loo"):
            spread = zip(_BIN_NAMES, _spread(taus(base, pair)), strict=True)
            measures |= {("figure_2", pair, label): share for label, share in spread}
    scores = {encoder: (performance(task), commonest(task)) for encoder, task in additive.items()}
    learned = {encoder for encoder, (score, least) in scores.items() if score and has_learned(score, least)}
    return Subject(name, TITLES[name], measures, facts={"additive": additive, "learned": learned})


def _by_class(base: Task, average: Task | None) -> dict[Key, Quantity]:
    """The paper's Table 2: by predicted class, which the paper numbers."""
    measures: dict[Key, Quantity] = {}
    for number, label in enumerate(base.split.labels if base.split.answers == "labels" else ("all",)):
        line = f"{base.setting.dataset}, {number if label != 'all' else 'all'}"
        for column, (pair, encoder) in _BY_CLASS.items():
            task = base if encoder == "lstm" else average
            ours = None if task is None else _mean(_group(task, label), pair)
            measures["table_2", label, column] = Cell(ours, PAPER.text("table_2", line, column))
    return measures


def _difference(figure: TauDifference, additive: dict[EncoderName, Task]) -> Cell:
    setting = additive["lstm"].setting
    one, less = (released_mean(pair, setting._replace(encoder=enc)) for pair, enc in (figure.one, figure.less))
    published = "" if one is None or less is None else f"{one - less:.2f}"
    there = {figure.one[1], figure.less[1]} <= additive.keys()
    return Cell(more(additive, figure.one, figure.less) if there else None, published)


def _significant(task: Task) -> dict[Key, Quantity]:
    """How often tau is significant, over all texts."""
    measures: dict[Key, Quantity] = {}
    for pair in _PAIRS:
        tau = PAPER.find(f"tau_{pair}", task.setting.published, "all")
        published = "" if tau is None else f"{tau.numbers[2]:.2f}"
        measures["significant", pair] = Cell(task.audit.all.correlations[pair].significant, published)
    return measures


def _spread(values: Floats) -> list[Estimate | None]:
    """The share of the texts in each bin."""
    known = values[~np.isnan(values)]
    places = np.clip(np.digitize(known, _BINS) - 1, 0, len(_BINS) - 2)
    return [estimate((places == i).astype(np.float64)) for i in range(len(_BINS) - 1)]


def _group(task: Task, label: str) -> Group | None:
    if label == "all":
        return task.audit.all
    return next((group for group in task.audit.groups if group.label == label), None)


def _mean(group: Group | None, pair: str) -> Estimate | None:
    return None if group is None else group.correlations[pair].mean


def _tables(subjects: Sequence[Subject]) -> Iterator[TableSpec]:
    note = "Published: the authors' released means over all texts ± standard deviation (share significant)."
    for pair, words in _PAIRS.items():
        yield TableSpec(
            name=f"tau_{pair}",
            title=f"Kendall's tau of {words}",
            rows={f"tau_{pair}": ""},
            columns=ways(subjects, f"tau_{pair}"),
            layout="rows",
            notes=(note,),
        )
    yield from _TABLES


_TABLES = (
    TableSpec(
        name="table_2",
        title="Table 2: Kendall's tau by predicted class, additive attention",
        rows=lambda subject: {key[:2]: key[1] for key in subject.measures if key[0] == "table_2"},
        columns=tuple(_BY_CLASS),
        layout="rows",
    ),
    TableSpec(
        name="significant",
        title="Share of texts with p <= 0.05",
        rows={"significant": ""},
        columns=_PAIRS,
        layout="rows",
        digits=2,
    ),
    TableSpec(
        name="figures_6_to_8",
        title="Figures 6 to 8: mean difference of two taus",
        rows={name: figure.title for name, figure in FIGURES.items()},
        notes=(
            "Published: of the means that the authors released; the mean is over the same datasets as ours, those "
            "whose models learned. The captions' means are of all their datasets.",
        ),
    ),
    TableSpec(
        name="figure_2_{name}",
        title="Figure 2, {title} (BiLSTM, additive): share of texts by Kendall's tau",
        rows={("figure_2", pair): _PAIRS[pair] for pair in ("attention_gradient", "gradient_loo")},
        columns=_BIN_NAMES,
        layout="tables",
        digits=2,
        drawn="bars",
    ),
)


def _undefined(listed: Iterable[Task]) -> Iterator[str]:
    """Texts that have no tau, for every model that has such."""
    for task in listed:
        if count := task.audit.all.correlations["attention_gradient"].undefined:
            yield (
                f"{task.setting.title}: tau of attention and gradients is not defined for {count} of "
                f"{len(task.audit)} texts."
            )


PART = PartSpec(
    name="table_2",
    title="Does attention agree with measures of importance?",
    measure=_measure,
    tables=_tables,
    claims=[claims, mean_claims],
    notes=_undefined,
    published=PAPER,
)
