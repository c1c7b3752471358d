"""What checks of Examples share: the training set of an explanation, and models trained on parts of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from assay.errors import BadAnswer, BadInput
from assay.explanations.examples import Examples
from assay.questions.answers import Predictions
from assay.questions.base import Conversation
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.predict import Predict
from assay.questions.train import Train
from assay.text.sample import Sample
from assay.text.training_set import TrainingSet
from assay.training.recipes import Recipe


def training_sample(e: Examples) -> Sample:
    """The training set that the explanation searched; a saved one knows only its digest."""
    train = e.about.parameters.get("train")
    if not isinstance(train, TrainingSet):
        raise BadInput("this explanation was saved without its training set, so no model can be trained on it again.")
    return train.sample


def generator_for(e: Examples, seed: int) -> np.random.Generator:
    """Randomness of the training set alone: all texts, and all explanations of them, meet the same models."""
    return np.random.default_rng([seed, int(e.train.digest or "0", 16)])


def explained_number(e: Examples, recipe: str | Recipe, sample: Sample, seed: int) -> Conversation[float]:
    """What is explained of the text, by a model that the recipe trains on the sample; labels are found by name."""
    name: str = yield Train(recipe, sample, seed=seed)
    facts: KnownFacts = yield ModelFacts().sent_to(name)
    answers: Predictions = yield Predict(e.text).sent_to(name)
    against = None if e.case.against is None else _place(e, e.case.against, facts)
    return float(answers.value(_place(e, e.target, facts), e.case.scalar, against)[0])


def _place(e: Examples, label: int, facts: KnownFacts) -> int:
    wanted = e.about.labels[label]
    if wanted not in facts.labels:
        known = ", ".join(facts.labels)
        raise BadAnswer(f"the model trained on a part of the training set has no label {wanted!r}; it has: {known}.")
    return facts.labels.index(wanted)


def without(sample: Sample, rows: Iterable[int]) -> Sample:
    """All rows but these."""
    gone = set(rows)
    return sample.pick(i for i in range(len(sample)) if i not in gone)


def require_positive(**numbers: Any) -> None:
    for name, value in numbers.items():
        if value <= 0:
            raise BadInput(f"{name} must be above 0, not {value}.")
