"""Label correction: whether texts with wrong labels come first when a method sorts the training set by self-influence.

    area under the share of the wrong labels found, over the share of the training texts looked at

A share of the labels is changed at random, a model is trained on them by the recipe, and the method sorts the training
texts by their self-influence, the highest first. Koh and Liang (2017), section 5.4, arXiv:1703.04730; for TracIn Pruthi
et al. (2020), section 4.1. A random order finds as large a share as it looks at, an area of 1/2. The facts say how much
is found in the first 20 % (`found`), and what sorting by the loss alone comes to (`loss_area`, `loss_found`), which
costs one forward pass a text: a method that is no better than that owes its area to the loss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.errors import BadInput
from assay.explanations.examples import Examples
from assay.questions.base import Conversation, elsewhere
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.predict import Predict
from assay.questions.train import Train
from assay.registry.cards import MethodCard, check
from assay.registry.parameters import parameters
from assay.registry.protocols import Method, RanksTraining
from assay.registry.sample_task import SampleTask
from assay.statistics.arrays import Floats
from assay.statistics.verdict import Verdict
from assay.text.example import Example
from assay.text.sample import Sample
from assay.text.text import Text
from assay.text.training_set import TrainingSet
from assay.training.recipes import Recipe, recipe

_DRAWS = 200
_LOOKED_AT = 0.2


def recovery(order: Sequence[int], wrong: set[int], looked_at: float = _LOOKED_AT) -> tuple[float, float]:
    """The area under the recovery curve, and the share of the wrong labels in the first part of the order."""
    hits = np.array([row in wrong for row in order], dtype=float)
    found = np.concatenate([[0.0], np.cumsum(hits)]) / len(wrong)
    return float((found[1:] + found[:-1]).mean() / 2), float(found[round(looked_at * len(order))])


@check(
    title="Label correction",
    better="higher",
    paper="arXiv:1703.04730",
    needs=(Predict,),
    reads=Examples,
    sensitive_to="labels that were wrong before; texts that are hard, not wrong; a model that learned every label",
)
@dataclass(frozen=True, kw_only=True)
class LabelCorrection:
    """How soon changed labels are found; `recipe` is how models are trained, `repeats` how often labels are changed."""

    recipe: str | Recipe = "bag"
    share: float = 0.1
    repeats: int = 3

    def __post_init__(self) -> None:
        if not 0 < self.share < 0.5 or self.repeats < 1:
            raise BadInput("label_correction needs 0 < share < 0.5 and repeats >= 1.")

    def trainings(self, task: SampleTask) -> int:
        return self.repeats

    def held_out(self) -> Mapping[str, float]:
        return {}

    def examine_sample(self, task: SampleTask) -> Conversation[LabelResult]:
        methods = [(card, made) for card, made in task.methods if isinstance(made, RanksTraining)]
        if not methods or len(methods) < len(task.methods):
            raise BadInput("label_correction tests methods that rank training texts: influence_functions and tracin.")
        how, rows = recipe(self.recipe), list(task.train.require_labels())
        found = []
        for repeat in range(self.repeats):
            flipped = Flipped.of(rows, task.train.labels, self.share, task.seed + repeat)
            model: str = yield Train(how, flipped.sample, seed=task.seed + repeat)
            found.append((yield from elsewhere(_repeated(flipped, methods, task.seed + repeat), model)))
        settings = {name: value for name, value in parameters(self).items() if name != "recipe"}
        return LabelResult([card.name for card, _ in methods], found, {**settings, **dict(how.settings)}, task.seed)


@dataclass(frozen=True, eq=False)
class Flipped:
    """A training set in which some labels were changed, and which."""

    sample: Sample
    wrong: frozenset[int]

    @classmethod
    def of(cls, rows: Sequence[Example], names: Sequence[str], share: float, seed: int) -> Flipped:
        """Each chosen row gets one of the other labels."""
        rng = np.random.default_rng([seed, len(rows)])
        wrong = frozenset(rng.permutation(len(rows))[: max(1, round(share * len(rows)))].tolist())
        changed = []
        for i, row in enumerate(rows):
            others = [name for name in names if name != row.label]
            label = others[int(rng.integers(len(others)))] if i in wrong else row.label
            changed.append(Example(row.id, row.strings, label, position=i))
        return cls(Sample.of(changed, name="the training set with changed labels"), wrong)


@dataclass(frozen=True, eq=False)
class Recovery:
    """Of one training: (area, found) of each method and of the loss, and the areas of random orders."""

    methods: list[tuple[float, float]]
    loss: tuple[float, float]
    random: list[float]


def _repeated(flipped: Flipped, methods: Sequence[tuple[MethodCard, Method]], seed: int) -> Conversation[Recovery]:
    train, rng, wrong = TrainingSet(flipped.sample), np.random.default_rng([seed, 1]), set(flipped.wrong)
    areas = []
    for card, made in methods:
        again = card.make({**parameters(made), "train": train})
        assert isinstance(again, RanksTraining)
        areas.append(_recovered((yield from again.self_influence()), wrong))
    loss = _recovered((yield from _losses(flipped.sample)), wrong)
    random = [recovery(rng.permutation(len(flipped.sample)).tolist(), wrong)[0] for _ in range(_DRAWS)]
    return Recovery(areas, loss, random)


def _recovered(scores: Floats, wrong: set[int]) -> tuple[float, float]:
    return recovery(np.argsort(-scores, kind="stable").tolist(), wrong)


def _losses(sample: Sample) -> Conversation[Floats]:
    facts: KnownFacts = yield ModelFacts()
    rows = list(sample)
    answers = yield Predict(*(Text.of(row.text) for row in rows))
    labels = [facts.labels.index(str(row.label)) for row in rows]
    return np.asarray(-np.log(np.maximum(answers.probabilities[np.arange(len(rows)), labels], 1e-300)))


@dataclass(frozen=True, eq=False)
class LabelResult:
    """What each training came to; one verdict a method, over the trainings."""

    methods: list[str]
    found: list[Recovery]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def verdicts(self) -> list[Verdict]:
        return [self._verdict(i, name) for i, name in enumerate(self.methods)]

    def _verdict(self, i: int, name: str) -> Verdict:
        areas, shares = np.array([one.methods[i] for one in self.found]).T
        loss_area, loss_found = np.mean([one.loss for one in self.found], axis=0).tolist()
        facts = {"found": float(shares.mean()), "loss_area": loss_area, "loss_found": loss_found}
        about: dict[str, Any] = {"parameters": self.parameters, "seed": self.seed, "facts": facts}
        return Verdict(name, "label_correction", "higher", areas, np.array([one.random for one in self.found]), **about)

    def to_dict(self) -> dict[str, Any]:
        return {"check": "label_correction", "verdicts": [verdict.to_dict() for verdict in self.verdicts()]}
