"""Neuron ablation: whether a neuron matters to the answer where its formula holds, and more than elsewhere.

    effect(x) = | y(x) - y(x with the neuron at zero) |          y: log-odds of the label that the model predicts for x
    score     = mean over rules of (mean effect where the rule holds - mean effect where it does not)

A formula says when a neuron is active, and not whether that matters: the survey's criticism (section 15.2) of Mu and
Andreas (2020), arXiv:2006.14032. Higher is better: the formula names texts in which the answer rests more on the neuron
than elsewhere. How much it rests on it is the fact "where it holds", which may be next to nothing all the same. Random
are the same neurons with as many of the same texts, drawn by chance, in the place of those where the formula holds; not
the formulas of other neurons, many of which hold in nearly the same texts. Of each rule at most `texts` texts of either
kind are asked, of the first `rules` rules.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.errors import BadInput
from assay.explanations.rules import Rule, Rules
from assay.questions.base import Conversation
from assay.questions.cases import Cases
from assay.questions.each import Each
from assay.questions.intervene import Intervene, Site
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.statistics.arrays import Floats
from assay.text.example import text_of
from assay.text.text import Row


@check(
    title="Neuron ablation",
    better="higher",
    paper="arXiv:2006.14032",
    needs=(Predict, Intervene),
    sensitive_to="zero as a value that the neuron may never have; neurons that stand in for each other",
    reads=Rules,
)
@dataclass(frozen=True, kw_only=True)
class NeuronAblation:
    """How much more the neuron matters where its formula holds."""

    rules: int = 10
    texts: int = 8

    def __post_init__(self) -> None:
        if self.rules < 1 or self.texts < 1:
            raise BadInput(f"neuron_ablation needs rules >= 1 and texts >= 1, not {self.rules} and {self.texts}.")

    def left_out(self, e: Rules) -> str | None:
        return None if _complete(e) else "no rule that holds in some texts and not in others"

    def examine(self, e: Rules) -> Conversation[Measured]:
        where, elsewhere = (yield from self.by_rule(e)).mean(axis=0).tolist()
        return Measured(where - elsewhere, {"where it holds": where, "elsewhere": elsewhere})

    def by_rule(self, e: Rules) -> Conversation[Floats]:
        """The mean effect where each rule holds, and where it does not [rules, 2]."""
        position = 0 if e.about.parameters.get("pool") == "first" else None
        return np.array((yield Each(self._rule(rule, position) for rule in _complete(e)[: self.rules])))

    def _rule(self, rule: Rule, position: int | None) -> Conversation[tuple[float, float]]:
        """The mean effect where the rule holds, and where it does not."""
        site = Site(rule.subject["layer"], "neuron", rule.subject["neuron"], position)
        inside, outside = rule.texts[: self.texts], rule.others[: self.texts]
        effects = yield Each(_effect(strings, site) for strings in (*inside, *outside))
        return float(np.mean(effects[: len(inside)])), float(np.mean(effects[len(inside) :]))


def _complete(e: Rules) -> list[Rule]:
    return [rule for rule in e.rules if rule.texts and rule.others and "neuron" in rule.subject]


def _effect(strings: Row, site: Site) -> Conversation[float]:
    (reading,) = yield Cases([text_of(strings)])
    case = reading.case
    own = case.value((yield Predict(case.text)))
    without = case.value((yield Intervene(case.text, [(site,)], "zero")))
    return float(abs(own[0] - without[0]))
