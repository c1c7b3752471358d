"""The models of the attention tests one by one, so that several processes can train them before the tests run.

Each is named by its digest, as the checks name it: a test finds what was trained here, and trains nothing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.checks.trained_adversary import TrainedAdversary
from assay.checks.trained_models import adversary_recipe, observe, train_adversary
from assay.engine.engine import Engine
from assay.models import TextModel
from assay.questions.base import Conversation
from assay.questions.train import Train
from assay.registry.sample_task import SampleTask
from assay.training.attentive import Attend
from assay.training.guided import Guided
from assay.verdicts.sample_checks import NO_MODEL


@dataclass(frozen=True, eq=False)
class AttentionModels:
    """Labelled texts, how models are trained on them, and the directory that the tests use too."""

    task: SampleTask
    how: Attend
    out: Path

    @classmethod
    def of(cls, train: Any, dev: Any, test: Any, how: Attend, out: Path) -> AttentionModels:
        return cls(SampleTask.of(train, dev, test), how, out)

    @cached_property
    def engine(self) -> Engine:
        return Engine(NO_MODEL, trained=self.out)

    def model(self, seed: int, **changes: Any) -> str:
        """The name of the model as `how` says, with these changes."""
        recipe = replace(self.how, **changes)
        name: str = self.engine.ask(Train(recipe, self.task.train, seed=seed, dev=self.task.dev))
        return name

    def adversary(self, base: str, penalty: float, check: TrainedAdversary) -> str:
        """That of a model which is trained away from the base."""
        return next(self.engine.run([self._adversary(base, penalty, check)])).get()

    def adversaries(self, base: str, penalties: Sequence[float], check: TrainedAdversary) -> None:
        """Those of several lambdas as one, which is sooner on a card; `adversary` then finds them."""
        seen = next(self.engine.run([observe(base, self.task.train, self.task.dev, self.task.test)])).get()
        recipes = [adversary_recipe(self.how, seen, value, **_trained(check)) for value in penalties]
        self.engine.trained.train_side_by_side(recipes, self.task.train, check.seed)

    def guided(self, guide: str, seed: int) -> str:
        """That of an MLP under the attention of another model."""
        return next(self.engine.run([self._guided(guide, seed)])).get()

    def opened(self, name: str) -> TextModel:
        return self.engine.models[name]

    def _adversary(self, base: str, penalty: float, check: TrainedAdversary) -> Conversation[str]:
        seen = yield from observe(base, self.task.train, self.task.dev, self.task.test)
        return (
            yield from train_adversary(self.task.train, self.how, seen, penalty, seed=check.seed, **_trained(check))
        )

    def _guided(self, guide: str, seed: int) -> Conversation[str]:
        seen = yield from observe(guide, self.task.train, self.task.dev, self.task.test)
        recipe = Guided(replace(self.how, encoder="average"), seen)
        name: str = yield Train(recipe, self.task.train, seed=seed, dev=self.task.dev)
        return name


def _trained(check: TrainedAdversary) -> dict[str, Any]:
    return {"epochs": check.epochs, "patience": check.patience, "variant": check.variant}
