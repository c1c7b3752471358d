"""Table 2 and Figures 2, 6, 7, 8: does attention rank the words as gradients and leave-one-out do?

Kendall's tau-b per text, by the class that is predicted; the share of texts where it is significant (p <= 0.05). Texts
on which it is not defined, because an attention has become constant, are counted and left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate, estimate
from assay.workflows.audit.summary import Group
from assay_studies.attention_is_not_explanation import published
from assay_studies.attention_is_not_explanation.differences import differences
from assay_studies.attention_is_not_explanation.published import Tau
from assay_studies.attention_is_not_explanation.tasks import TITLES, Task
from assay_studies.attention_is_not_explanation.taus import bases, other, paired, taus
from assay_studies.claims import Claim, higher
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

_BINS = np.linspace(-1, 1, 11).round(1) + 0.0
_WEAK = 0.5  # "hovers around or below 0.5"
_NAMED = {
    "attention_gradient": "attention and gradients",
    "attention_loo": "attention and leave-one-out",
    "gradient_loo": "gradients and leave-one-out",
}
_PAIRS = {pair: (name, published.RELEASED_TAUS[pair]) for pair, name in _NAMED.items()}


def part(listed: Sequence[Task]) -> Part:
    tables = [_table(listed, pair, *about) for pair, about in _PAIRS.items()]
    tables += [_by_class(listed), _significant(listed), differences(listed), *map(_histogram, bases(listed))]
    claims = [claim for task in bases(listed) for claim in _claims(task, listed)]
    return Part(
        "table_2", "Does attention agree with measures of importance?", tuple(tables), tuple(claims), _gone(listed)
    )


def _table(listed: Sequence[Task], pair: str, what: str, released: dict[published.Setting, dict[str, Tau]]) -> Table:
    """All texts, every model."""
    ways = list(dict.fromkeys((t.setting.encoder, t.setting.attention) for t in listed))
    lines = []
    for dataset in dict.fromkeys(t.setting.dataset for t in listed):
        mine = {(t.setting.encoder, t.setting.attention): t for t in listed if t.setting.dataset == dataset}
        cells = [
            Cell(_mean(mine[way].audit.all, pair), _shown(released.get(mine[way].setting, {}).get("all")))
            if way in mine
            else Cell()
            for way in ways
        ]
        lines.append(Line(TITLES[dataset], tuple(cells)))
    columns = tuple(f"{encoder}, {attention}" for encoder, attention in ways)
    note = "Published: the authors' released means over all texts ± standard deviation (share significant)."
    return Table(f"tau_{pair}", f"Kendall's tau of {what}", columns, tuple(lines), notes=(note,))


def _by_class(listed: Sequence[Task]) -> Table:
    """The paper's Table 2: additive attention, by predicted class."""
    columns = ("gradient, lstm", "gradient, average", "leave-one-out, lstm")
    lines = []
    for base in bases(listed):
        average = other(listed, base, "average")
        for number, label in enumerate(base.split.labels if base.split.answers == "labels" else ("all",)):
            key = str(number) if label != "all" else "all"
            paper = published.TABLE_2.get((base.setting.dataset, key))
            cells = (
                Cell(_mean(_group(base, label), "attention_gradient"), _shown(paper and paper.gradient_lstm)),
                Cell(
                    None if average is None else _mean(_group(average, label), "attention_gradient"),
                    _shown(paper and paper.gradient_average),
                ),
                Cell(_mean(_group(base, label), "attention_loo"), _shown(paper and paper.leave_one_out_lstm)),
            )
            lines.append(Line(f"{TITLES[base.setting.dataset]}, {label}", cells))
    return Table("table_2", "Table 2: Kendall's tau by predicted class, additive attention", columns, tuple(lines))


def _significant(listed: Sequence[Task]) -> Table:
    """How often tau is significant, over all texts."""
    columns = ("attention and gradients", "attention and leave-one-out", "gradients and leave-one-out")
    lines = []
    for task in listed:
        cells = []
        for pair, (_, released) in _PAIRS.items():
            tau = released.get(task.setting, {}).get("all")
            cells.append(Cell(task.audit.all.correlations[pair].significant, f"{tau.significant:.2f}" if tau else ""))
        lines.append(Line(task.setting.title, tuple(cells)))
    return Table("significant", "Share of texts with p <= 0.05", columns, tuple(lines), digits=2)


def _histogram(task: Task) -> Table:
    """Figure 2 for one dataset: how tau is spread over the texts."""
    columns = tuple(f"{low:.1f}…{high:.1f}" for low, high in pairwise(_BINS))
    lines = [Line(what, tuple(map(Cell, _spread(taus(task, pair))))) for pair, (what, _) in list(_PAIRS.items())[::2]]
    title = f"Figure 2, {TITLES[task.setting.dataset]} (BiLSTM, additive): share of texts by Kendall's tau"
    return Table(f"figure_2_{task.setting.dataset}", title, columns, tuple(lines), digits=2, drawn="bars")


def _spread(values: Floats) -> list[Estimate | None]:
    known = values[~np.isnan(values)]
    places = np.clip(np.digitize(known, _BINS) - 1, 0, len(_BINS) - 2)
    return [estimate((places == i).astype(np.float64)) for i in range(len(_BINS) - 1)]


def _claims(base: Task, listed: Sequence[Task]) -> Iterable[Claim]:
    title = TITLES[base.setting.dataset]
    tau = _mean(base.audit.all, "attention_gradient")
    if tau is not None:
        weak = None if tau.few else tau.high < _WEAK or (False if tau.low > _WEAK else None)
        yield Claim(f"{title}: attention and gradients agree only modestly (tau below {_WEAK})", weak, tau.shown())
    for pair, figure in (("attention_loo", "Figure 6"), ("attention_gradient", "Figure 7")):
        gain = paired(taus(base, "gradient_loo"), taus(base, pair))
        claim = f"{title}: gradients and leave-one-out agree better with each other than with attention ({figure})"
        yield Claim(claim, higher(gain), "not measured" if gain is None else f"tau {gain.shown()} more")
    average = other(listed, base, "average")
    if average is not None:
        for pair, what in (("attention_gradient", "gradients"), ("attention_loo", "leave-one-out, Figure 8")):
            more = paired(taus(average, pair), taus(base, pair))
            claim = f"{title}: with the average encoder attention agrees better than with the BiLSTM ({what})"
            yield Claim(claim, higher(more), "not measured" if more is None else f"tau {more.shown()} more")


def _group(task: Task, label: str) -> Group | None:
    if label == "all":
        return task.audit.all
    return next((group for group in task.audit.groups if group.label == label), None)


def _mean(group: Group | None, pair: str) -> Estimate | None:
    return None if group is None else group.correlations[pair].mean


def _shown(tau: Tau | None) -> str:
    return "" if tau is None else f"{tau.mean:.2f} ± {tau.std:.2f} ({tau.significant:.2f})"


def _gone(listed: Iterable[Task]) -> tuple[str, ...]:
    """Texts that have no tau, said for every model that has such."""
    counted = ((task, task.audit.all.correlations["attention_gradient"].undefined) for task in listed)
    return tuple(
        f"{task.setting.title}: tau of attention and gradients is not defined for {count} of {len(task.audit)} texts."
        for task, count in counted
        if count
    )
