"""What checks ask of the models they train: how many labels are right, what they say, and where they look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from operator import add
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from assay.errors import BadAnswer, BadInput
from assay.explanations.token_scores import TokenScores
from assay.questions.answers import AttentionMaps
from assay.questions.base import Conversation, elsewhere
from assay.questions.cases import Cases
from assay.questions.each import Each
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.inside import Attention
from assay.questions.predict import Predict
from assay.questions.train import Train
from assay.registry.cards import MethodCard, distinct_name
from assay.registry.parameters import parameters, plain
from assay.registry.protocols import Method
from assay.registry.sample_task import SampleTask
from assay.statistics.arrays import Floats, Ints
from assay.text.example import Example
from assay.text.sample import Sample
from assay.text.text import Text
from assay.training.observed import Observed
from assay.training.recipes import Recipe

if TYPE_CHECKING:
    from assay.training.adversary import Adversarial
    from assay.training.attentive import Attend

ATTENTION, RANDOM = "attention", "random"
HELD_OUT = {"dev": 0.1, "test": 0.2}
_ORDERS = 200


def count_right(sample: Sample) -> Conversation[int]:
    """How many texts get their label; labels are compared by name, as each model has its own order of them."""
    facts: KnownFacts = yield ModelFacts()
    if missing := sorted(set(sample.labels) - set(facts.labels)):
        raise BadAnswer(f"the trained model has no label {missing[0]!r}; its labels are {', '.join(facts.labels)}.")
    right: int = yield Each((_is_right(row, facts.labels) for row in sample), fold=add, start=0)
    return right


def _is_right(row: Example, labels: Sequence[str]) -> Conversation[int]:
    answer = yield Predict(Text.of(row.text))
    return int(labels[int(answer.argmax()[0])] == row.label)


def observe(model: str | None, *samples: Sample | None, source: str = "") -> Conversation[Observed]:
    """What a model with one attention says of all texts of these samples, and where it looks.

    None is the given model; then `source` says which one it is.
    """
    rows = [row for sample in samples if sample is not None for row in sample]
    labels, seen = yield from elsewhere(_all_seen(rows), model)
    chances, weights = zip(*seen, strict=True)
    return Observed(labels, np.stack(chances), weights, model or source, tuple(row.strings for row in rows))


def _all_seen(rows: Sequence[Example]) -> Conversation[tuple[tuple[str, ...], list[tuple[Floats, Floats]]]]:
    facts: KnownFacts = yield ModelFacts()
    return facts.labels, (yield Each(_seen(row) for row in rows))


def _seen(row: Example) -> Conversation[tuple[Floats, Floats]]:
    """The probabilities of a text, and its weights token by token, whose sum is one."""
    [reading] = yield Cases([row.text])
    maps: AttentionMaps = yield Attention(reading.case.text)
    weights = maps.weights[0, 0, 0].astype(np.float64)
    return np.array(list(reading.prediction.values())), weights / max(weights.sum(), np.finfo(np.float64).tiny)


def predicted(sample: Sample) -> Conversation[tuple[tuple[str, ...], Ints]]:
    """The labels of a model, and the number of the one that it predicts for each text."""
    facts: KnownFacts = yield ModelFacts()
    return facts.labels, np.array((yield Each(_label(row) for row in sample)))


def _label(row: Example) -> Conversation[int]:
    answer = yield Predict(Text.of(row.text))
    return int(answer.argmax()[0])


@dataclass(frozen=True)
class Base:
    """The model whose attention is tested: the given one, or one that is trained for it (`name`)."""

    task: SampleTask
    name: str | None

    @classmethod
    def trained(cls, task: SampleTask, recipe: Recipe, seed: int) -> Conversation[Base]:
        if task.model is not None:
            return cls(task, None)
        return cls(task, (yield Train(recipe, task.train, seed=seed, dev=task.dev)))

    def observed(self, *samples: Sample | None) -> Conversation[Observed]:
        """What it says of these texts, and where it looks."""
        model = self.task.model
        return observe(self.name, *samples, source="" if model is None else model.fingerprint())


def word_scorers(check: str, task: SampleTask) -> dict[str, Method]:
    """Each method once, by a name that tells it from the same one with other parameters; random goes along anyway."""
    named: dict[str, Method] = {}
    for card, made in task.methods:
        if not issubclass(card.returns, TokenScores):
            raise BadInput(f"{check} needs scores of words, which {card.name} does not give.")
        if (unit := parameters(made).get("unit", "words")) != "words":
            raise BadInput(f"{check} takes words away; let {card.name} explain words, not {unit}.")
        named[distinct_name(card, made)] = made
    named.pop(RANDOM, None)
    if not named:
        raise BadInput(f"{check} needs a method to test, as listed by `assay methods`.")
    return named


def train_adversary(
    train: Sample,
    recipe: Attend,
    base: Observed,
    penalty: float,
    *,
    epochs: int,
    patience: int,
    seed: int,
    variant: Literal["paper", "released"] = "paper",
    chosen_by: Sample | None = None,
) -> Conversation[str]:
    """The name of a model like the base that was trained away from it; `penalty` is lambda."""
    made = adversary_recipe(recipe, base, penalty, epochs=epochs, patience=patience, variant=variant)
    name: str = yield Train(made, train, seed=seed, dev=chosen_by)
    return name


def adversary_recipe(
    recipe: Attend,
    base: Observed,
    penalty: float,
    *,
    epochs: int,
    patience: int,
    variant: Literal["paper", "released"] = "paper",
) -> Adversarial:
    """That of a model like the base which is trained away from it."""
    from assay.training.adversary import Adversarial, adversary_plan  # torch is slow to import

    how = replace(recipe, plan=adversary_plan(recipe.plan, epochs, patience))
    return Adversarial(how, base, penalty, variant)


def require_attention(check: str, task: SampleTask) -> Sample:
    """The test texts of a check of attention; an error where the task is about something else."""
    _require_method(check, task.methods)
    if task.test is None:
        raise BadInput(f"{check} compares models on texts of their own: give it test.")
    task.require_words()
    return task.test


def _require_method(check: str, methods: Sequence[tuple[MethodCard, Method]]) -> None:
    names = [card.name for card, _ in methods]
    if names and ATTENTION not in names:
        raise BadInput(
            f"{check} tests attention and says nothing about {', '.join(names)}; give it the method attention."
        )


def gold(sample: Sample) -> list[str]:
    """The labels, row by row."""
    return [str(row.label) for row in sample]


def described(check: object, recipe: Recipe) -> Mapping[str, Any]:
    """The parameters of a check, its recipe by what decides its models."""
    return {**parameters(check), "recipe": {name: plain(value) for name, value in recipe.settings.items()}}


def shuffled(seen: Observed, seed: int) -> list[Observed]:
    """The same model with each text's weights in random order, so often that all texts together have 200 orders."""
    rng = np.random.default_rng(seed)
    orders = max(1, ceil(_ORDERS / len(seen.weights)))
    return [replace(seen, weights=tuple(_reordered(one, rng) for one in seen.weights)) for _ in range(orders)]


def _reordered(weights: Floats, rng: np.random.Generator) -> Floats:
    """Edges and what else is never looked at keep their zeros."""
    mixed, open_places = weights.copy(), np.flatnonzero(weights > 0)
    mixed[open_places] = weights[rng.permutation(open_places)]
    return mixed
