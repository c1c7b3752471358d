"""Uniform attention: whether a model needs its attention at all.

    F1 of the model - F1 of the same model, trained with the weight 1 / n on each of the n words of a text

Wiegreffe and Pinter (2019), section 3.2, arXiv:1908.04626: attention explains nothing where it is not needed. Higher
means that it is needed. The paper has one model of each kind; with several seeds each is trained as often. `tvd` and
`jsd` of the result say how far both are apart on the test texts, the square in Figure 5 of the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from assay.checks.trained_models import ATTENTION, HELD_OUT, described, gold, observe, require_attention
from assay.errors import BadInput
from assay.questions.base import Conversation
from assay.questions.inside import Attention
from assay.questions.predict import Predict
from assay.questions.train import Train
from assay.registry.cards import check
from assay.registry.sample_task import SampleTask
from assay.statistics.arrays import Floats
from assay.statistics.f1_verdict import F1Verdict
from assay.statistics.intervals import Estimate, mean_over_seeds
from assay.statistics.scoring import Scored
from assay.training.observed import apart
from assay.training.recipes import Recipe

_REFERENCE = "compared with uniform attention, not with random explanations."


@check(
    title="Uniform attention",
    better="higher",
    paper="arXiv:1908.04626",
    needs=(Attention, Predict),
    sensitive_to="how long and with which seeds models train; tasks that a bag of states solves",
)
@dataclass(frozen=True, kw_only=True)
class UniformAttention:
    """What learned attention adds to the F1 of a model; `recipe` is how models are trained."""

    seeds: tuple[int, ...] = (10,)
    recipe: str | Recipe = "attentive"

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise BadInput(f"seeds are different numbers, at least one, not {self.seeds}.")

    def trainings(self, task: SampleTask) -> int:
        return 2 * len(self.seeds)

    def held_out(self) -> Mapping[str, float]:
        return HELD_OUT

    def examine_sample(self, task: SampleTask) -> Conversation[UniformResult]:
        """Train with learned and with uniform attention, and compare both on test."""
        from assay.training.attention_reading import attentive_recipe  # torch is slow to import

        test = require_attention("uniform_attention", task)
        learned = attentive_recipe(self.recipe, task.model)
        seen = []
        for recipe in (learned, replace(learned, attention="uniform")):
            for seed in self.seeds:
                model = yield Train(recipe, task.train, seed=seed, dev=task.dev)
                seen.append((yield from observe(model, test)))
        base, uniform = seen[: len(self.seeds)], seen[len(self.seeds) :]
        moved = [apart(a, b) for a, b in zip(base, uniform, strict=True)]
        return UniformResult(
            base=Scored.of(base[0].labels, gold(test), [one.predicted for one in base]),
            uniform=Scored.of(uniform[0].labels, gold(test), [one.predicted for one in uniform]),
            tvd=np.stack([one.tvd for one in moved]),
            jsd=np.stack([one.jsd for one in moved]),
            parameters=described(self, learned),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class UniformResult:
    """Both kinds of model on the test texts, one of each per seed; `tvd` and `jsd` [seeds, texts] are between them."""

    base: Scored
    uniform: Scored
    tvd: Floats
    jsd: Floats
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def difference(self) -> Estimate:
        """How much F1 the learned attention adds."""
        return self.base.above(self.uniform)

    @property
    def sentence(self) -> str:
        match self.difference.sign:
            case 1:
                return "Learned attention adds to F1: it is needed here."
            case -1:
                return "Uniform attention does better: learned attention is not needed here."
        return "No clear difference: attention may not be needed here, and then it explains nothing."

    def verdicts(self) -> list[F1Verdict]:
        """F1 with learned attention against F1 with uniform attention."""
        about: dict[str, Any] = {"warnings": (_REFERENCE,), "parameters": self.parameters}
        return [F1Verdict.of(ATTENTION, "uniform_attention", self.base, self.uniform, **about)]

    def table(self) -> list[dict[str, Any]]:
        """One row per kind of model."""
        both = (("base", self.base), ("uniform", self.uniform))
        return [{"model": name, "f1": one.f1, "accuracy": one.accuracy} for name, one in both]

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back."""
        both = {"base": self.base.to_dict(), "uniform": self.uniform.to_dict()}
        apart = {"tvd": self.tvd.tolist(), "jsd": self.jsd.tolist()}
        return {"check": "uniform_attention", **both, **apart, "parameters": dict(self.parameters)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            base=Scored.from_dict(data["base"]),
            uniform=Scored.from_dict(data["uniform"]),
            tvd=np.array(data["tvd"]),
            jsd=np.array(data["jsd"]),
            parameters=data["parameters"],
        )

    def __str__(self) -> str:
        rows = [f"{r['model']:8} F1 {r['f1'].shown()}, accuracy {r['accuracy'].shown()}" for r in self.table()]
        moved = f"apart    TVD {mean_over_seeds(self.tvd).shown()}, JSD {mean_over_seeds(self.jsd).shown()}"
        return "\n".join([*rows, f"base - uniform: F1 {self.difference.shown(sign='+')}", moved, self.sentence])
