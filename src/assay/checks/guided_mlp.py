"""Guided MLP: whether attention tells a model without context which words matter.

    y = D(sum_i g_i tanh(W x_i + b))        with a guide g of each text that is given, in training and in testing

Wiegreffe and Pinter (2019), section 3.4, arXiv:1908.04626. Guides: uniform weights, attention that the MLP learns
itself, that of the base model, and that of a trained adversary. Higher is better; published is base > learned >
uniform, and the adversary mostly last. Base and adversary are trained once, with the first seed; with several seeds the
MLPs differ. `recipe` describes the base; the MLPs are the same with encoder="average".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isfinite
from typing import Any, Literal, Self

from assay.checks.trained_models import (
    ATTENTION,
    HELD_OUT,
    Base,
    described,
    gold,
    observe,
    predicted,
    require_attention,
    train_adversary,
)
from assay.errors import BadInput
from assay.questions.base import Conversation, elsewhere
from assay.questions.inside import Attention
from assay.questions.predict import Predict
from assay.questions.train import Train
from assay.registry.cards import check
from assay.registry.sample_task import SampleTask
from assay.statistics.f1_verdict import F1Verdict
from assay.statistics.intervals import Estimate
from assay.statistics.scoring import Scored
from assay.training.recipes import Recipe

UNIFORM, TRAINED, BASE, ADVERSARY = "uniform", "trained MLP", "base", "adversary"
PUBLISHED = (BASE, TRAINED, UNIFORM)  # from the best to the worst
_REFERENCE = "compared with uniform weights as the guide, not with random explanations."


@check(
    title="Guided MLP",
    better="higher",
    paper="arXiv:1908.04626",
    needs=(Attention, Predict),
    sensitive_to="guides that give the label away: the base has seen the training texts with their labels",
)
@dataclass(frozen=True, kw_only=True)
class GuidedMlp:
    """The F1 of an MLP under each guide.

    `adversary` is its lambda, None goes without it; `variant` is how it is trained, see trained_adversary.
    """

    seeds: tuple[int, ...] = (10,)
    adversary: float | None = 0.001
    epochs: int = 80
    patience: int = 10
    variant: Literal["paper", "released"] = "paper"
    recipe: str | Recipe = "attentive"

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise BadInput(f"seeds are different numbers, at least one, not {self.seeds}.")
        if self.adversary is not None and not (self.adversary >= 0 and isfinite(self.adversary)):
            raise BadInput(f"adversary is its lambda, 0 or more, or None, not {self.adversary}.")
        if min(self.epochs, self.patience) < 1:
            raise BadInput("epochs and patience of the adversary are 1 or more.")

    def trainings(self, task: SampleTask) -> int:
        guides = 3 if self.adversary is None else 4
        return guides * len(self.seeds) + (task.model is None) + (self.adversary is not None)

    def held_out(self) -> Mapping[str, float]:
        return HELD_OUT

    def examine_sample(self, task: SampleTask) -> Conversation[GuidedResult]:
        """Train an MLP under each guide, and compare F1 on test."""
        from assay.training.attention_reading import attentive_recipe  # torch is slow to import

        test = require_attention("guided_mlp", task)
        recipe = attentive_recipe(self.recipe, task.model)
        mlp = replace(attentive_recipe(self.recipe, None), encoder="average")
        guides: dict[str, Recipe] = {UNIFORM: replace(mlp, attention="uniform"), TRAINED: mlp}
        guides |= yield from self._guided(task, recipe, mlp)
        found: dict[str, Scored] = {}
        for name, guided in guides.items():
            answers = []
            for seed in self.seeds:
                model = yield Train(guided, task.train, seed=seed, dev=task.dev)
                answers.append((yield from elsewhere(predicted(test), model)))
            found[name] = Scored.of(answers[0][0], gold(test), [numbers for _, numbers in answers])
        return GuidedResult(guides=found, parameters=described(self, recipe))

    def _guided(self, task: SampleTask, recipe: Any, mlp: Any) -> Conversation[dict[str, Recipe]]:
        """The recipes of MLPs under the attention of other models."""
        from assay.training.guided import Guided

        samples = task.train, task.dev, task.test
        base = yield from Base.trained(task, recipe, self.seeds[0])
        seen = yield from base.observed(*samples)
        found: dict[str, Recipe] = {BASE: Guided(mlp, seen)}
        if self.adversary is not None:
            how: dict[str, Any] = {"epochs": self.epochs, "patience": self.patience, "seed": self.seeds[0]}
            how |= {"variant": self.variant}
            rival = yield from train_adversary(task.train, recipe, seen, self.adversary, **how)
            found[ADVERSARY] = Guided(mlp, (yield from observe(rival, *samples)))
        return found


@dataclass(frozen=True, eq=False, kw_only=True)
class GuidedResult:
    """The MLPs under each guide, by name."""

    guides: Mapping[str, Scored]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> list[str]:
        """The guides from the highest F1 to the lowest."""
        return sorted(self.guides, key=lambda name: -self.guides[name].f1.value)

    @property
    def as_published(self) -> bool:
        """Whether F1 falls from base to trained MLP to uniform; `steps` say how sure that is."""
        return all(step.value > 0 for step in self.steps().values())

    def steps(self) -> dict[tuple[str, str], Estimate]:
        """How much higher F1 is from one guide of the published order to the next."""
        return {(a, b): self.guides[a].above(self.guides[b]) for a, b in pairwise(PUBLISHED)}

    def verdicts(self) -> list[F1Verdict]:
        """F1 under the attention of the base against F1 under uniform weights."""
        others = {name: one.f1.value for name, one in self.guides.items() if name not in (BASE, UNIFORM)}
        about: dict[str, Any] = {"warnings": (_REFERENCE,), "parameters": self.parameters, "facts": others}
        return [F1Verdict.of(ATTENTION, "guided_mlp", self.guides[BASE], self.guides[UNIFORM], **about)]

    def table(self) -> list[dict[str, Any]]:
        """One row per guide."""
        return [{"guide": name, "f1": one.f1, "accuracy": one.accuracy} for name, one in self.guides.items()]

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back."""
        guides = {name: one.to_dict() for name, one in self.guides.items()}
        return {"check": "guided_mlp", "guides": guides, "parameters": dict(self.parameters)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        guides = {name: Scored.from_dict(one) for name, one in data["guides"].items()}
        return cls(guides=guides, parameters=data["parameters"])

    def __str__(self) -> str:
        rows = (f"{r['guide']:12} F1 {r['f1'].shown()}, accuracy {r['accuracy'].shown()}" for r in self.table())
        steps = (f"{a} - {b}: F1 {step.shown(sign='+')}" for (a, b), step in self.steps().items())
        held = "holds" if self.as_published else "does not hold"
        return "\n".join([*rows, *steps, f"the published order {' > '.join(PUBLISHED)} {held} here"])
