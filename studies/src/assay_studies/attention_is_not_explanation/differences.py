"""Figures 6, 7 and 8: how much better gradients and leave-one-out agree with each other than attention does with them.

6    tau(gradients, leave-one-out) - tau(attention, leave-one-out)       BiLSTM, additive attention
7    tau(gradients, leave-one-out) - tau(attention, gradients)           the same
8    tau(attention, leave-one-out) of the average encoder - that of the BiLSTM

The means over texts of paired differences. The paper draws them without numbers: beside ours stand the differences of
the means that the authors released, and for all datasets together what the captions say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assay.models.own.attentive.config import EncoderName
from assay.statistics.intervals import Estimate, estimate
from assay_studies.attention_is_not_explanation.published import RELEASED_TAUS
from assay_studies.attention_is_not_explanation.tasks import TITLES, Setting, Task
from assay_studies.attention_is_not_explanation.taus import bases, other, paired, taus
from assay_studies.tables import Cell, Line, Table


class _Side(NamedTuple):
    """A tau of one model."""

    pair: str
    encoder: EncoderName = "lstm"


class _Figure(NamedTuple):
    title: str
    one: _Side
    less: _Side
    caption: str


_FIGURES = (
    _Figure(
        "Figure 6: tau(gradients, LOO) less tau(attention, LOO)",
        _Side("gradient_loo"),
        _Side("attention_loo"),
        "0.2",
    ),
    _Figure(
        "Figure 7: tau(gradients, LOO) less tau(attention, gradients)",
        _Side("gradient_loo"),
        _Side("attention_gradient"),
        "0.25",
    ),
    _Figure(
        "Figure 8: tau(attention, LOO), average less BiLSTM",
        _Side("attention_loo", "average"),
        _Side("attention_loo"),
        "0.375",
    ),
)


def differences(listed: Sequence[Task]) -> Table:
    chosen = bases(listed)
    columns = (*(TITLES[task.setting.dataset] for task in chosen), "mean of all")
    lines = tuple(_line(figure, chosen, listed) for figure in _FIGURES)
    note = 'Published: of the means that the authors released; "mean of all" is the captions\', of all their datasets.'
    return Table("figures_6_to_8", "Figures 6 to 8: mean difference of two taus", columns, lines, notes=(note,))


def _line(figure: _Figure, chosen: Sequence[Task], listed: Sequence[Task]) -> Line:
    cells = [Cell(_ours(figure, task, listed), _theirs(figure, task)) for task in chosen]
    known = np.array([cell.ours.value for cell in cells if cell.ours is not None])
    return Line(figure.title, (*cells, Cell(estimate(known), figure.caption)))


def _ours(figure: _Figure, base: Task, listed: Sequence[Task]) -> Estimate | None:
    sides = [(side.pair, other(listed, base, side.encoder)) for side in (figure.one, figure.less)]
    known = [taus(task, pair) for pair, task in sides if task is not None]
    return paired(*known) if len(known) == 2 else None


def _theirs(figure: _Figure, base: Task) -> str:
    one, less = (_released(side, base.setting) for side in (figure.one, figure.less))
    return "" if one is None or less is None else f"{one - less:.2f}"


def _released(side: _Side, base: Setting) -> float | None:
    tau = RELEASED_TAUS[side.pair].get(base._replace(encoder=side.encoder), {}).get("all")
    return None if tau is None else tau.mean
