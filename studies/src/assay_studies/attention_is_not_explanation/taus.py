"""Kendall's tau-b of every audited text, what the authors released, and the differences that Figures 6 to 8 draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from assay.models.own.attentive.config import EncoderName
from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate
from assay_studies.attention_is_not_explanation.performance import over_seeds
from assay_studies.attention_is_not_explanation.tasks import PAPER, Setting, Task
from assay_studies.published import PublishedNumber

MEAN = "mean of those that learned"


class TauDifference(NamedTuple):
    """A difference of two taus, each of one encoder."""

    title: str
    one: tuple[str, EncoderName]
    less: tuple[str, EncoderName]


FIGURES = {
    "figure_6": TauDifference(
        "Figure 6: tau(gradients, LOO) less tau(attention, LOO)", ("gradient_loo", "lstm"), ("attention_loo", "lstm")
    ),
    "figure_7": TauDifference(
        "Figure 7: tau(gradients, LOO) less tau(attention, gradients)",
        ("gradient_loo", "lstm"),
        ("attention_gradient", "lstm"),
    ),
    "figure_8": TauDifference(
        "Figure 8: tau(attention, LOO), average less BiLSTM", ("attention_loo", "average"), ("attention_loo", "lstm")
    ),
}


def taus(task: Task, pair: str) -> Floats:
    """The tau of every audited text, NaN where it is not defined."""
    found = [one.taus[pair] for one in task.audit.texts]
    return np.array([np.nan if tau is None else tau.value for tau in found])


def tau_of(task: Task, pair: str) -> Estimate | None:
    """The mean over texts, and over seeds where there are several."""
    return over_seeds(task, lambda one: taus(one, pair))


def more(tasks: Mapping[EncoderName, Task], one: tuple[str, EncoderName], less: tuple[str, EncoderName]) -> Any:
    """How much higher the first tau is, on the texts that have both; of an encoder with one seed the same for all."""
    (pair, encoder), (other_pair, other) = one, less
    base, own = ("lstm" if "lstm" in (encoder, other) else encoder), dict(tasks)

    def of(seed: Task, pair: str, encoder: EncoderName) -> Floats:
        return taus(seed if encoder == base else own[encoder], pair)

    return over_seeds(own[base], lambda seed: of(seed, pair, encoder) - of(seed, other_pair, other))


def released(task: Task, pair: str) -> str:
    tau = PAPER.find(f"tau_{pair}", task.setting.published, "all")
    return "" if tau is None else _two_digits(tau)


def _two_digits(tau: PublishedNumber) -> str:
    mean, std, significant = tau.numbers
    return f"{mean:.2f} ± {std:.2f} ({significant:.2f})"


def released_mean(pair: str, setting: Setting) -> float | None:
    tau = PAPER.find(f"tau_{pair}", setting.published, "all")
    return None if tau is None else tau.value
