"""Kendall's tau of the audited texts, and which models of the study are compared with which."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate, difference
from assay_studies.attention_is_not_explanation.tasks import Task


def taus(task: Task, pair: str) -> Floats:
    """The tau of every audited text, NaN where it is not defined."""
    found = [one.taus[pair] for one in task.audit.texts]
    return np.array([np.nan if tau is None else tau.value for tau in found])


def paired(one: Floats, other: Floats) -> Estimate | None:
    """How much higher the first is, on the texts that have both."""
    both = ~np.isnan(one) & ~np.isnan(other)
    return difference(one[both], other[both]) if both.any() else None


def bases(listed: Iterable[Task]) -> list[Task]:
    """The paper's main model of each dataset: BiLSTM, additive attention."""
    return [t for t in listed if (t.setting.encoder, t.setting.attention) == ("lstm", "additive")]


def other(listed: Iterable[Task], base: Task, encoder: str) -> Task | None:
    """The same with another encoder, if the study has it."""
    wanted = (base.setting.dataset, encoder, base.setting.attention)
    return next((task for task in listed if tuple(task.setting) == wanted), None)
