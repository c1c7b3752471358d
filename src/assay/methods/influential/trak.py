"""TRAK: influence functions of a linear model in randomly projected gradients, over several models.

    score_i = mean_m(1 - p_mi)  mean_m( phi_m(x)' (Phi_m' Phi_m)^-1 phi_mi )

phi is a random projection of the gradient: of the log-odds of its own label for a training text, of the explained
number for the explained one; p_mi is the probability that model m gives to the label of training text i. Park et al.
(2023), arXiv:2303.14186. `models` are names of other models of the same training (`@checkpoint:3`, directories);
without any, the model itself is the only one. A small ridge, a thousandth of the mean eigenvalue, keeps the inverse
finite where there are fewer training texts than dimensions. Positive: pushed toward the label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.examples import KEPT, Examples
from assay.methods.influential.training import Training, require_kept, shared_training
from assay.questions.answers import Predictions
from assay.questions.base import Conversation, elsewhere
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.once import Once
from assay.questions.parameters import ParameterGradient, Target
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.text.example import text_of
from assay.text.text import Text
from assay.text.training_set import TrainingSet

_RIDGE = 1e-3


@dataclass(frozen=True, eq=False)
class Features:
    """Of one model: (Phi' Phi)^-1 phi_i for every training text [n, size], and 1 - p_i [n]."""

    solved: Floats
    unsure: Floats


@method(
    title="TRAK",
    row=Row.INFLUENTIAL,
    uses=Uses.GRADIENT,
    paper="arXiv:2303.14186",
    needs=(Predict, ParameterGradient),
    returns=Examples,
)
@dataclass(frozen=True, kw_only=True)
class Trak:
    """What each training text did to the prediction, in a random projection of the gradients."""

    train: TrainingSet | None = None
    project: int = 512
    layers: str = "last:2"
    models: tuple[str, ...] = ()
    kept: int = KEPT

    def __post_init__(self) -> None:
        require_kept(self.kept)
        if self.project < 1:
            raise BadInput(f"trak projects to 1 dimension or more, not {self.project}.")

    def explain(self, case: Case) -> Conversation[Examples]:
        training = yield from shared_training(self.train, "trak")
        products, unsure = [], []
        for name in self.models or (None,):
            known = yield from elsewhere(self._known(training), name)
            query = yield from elsewhere(self._query(case), name)
            products.append(known.solved @ query)
            unsure.append(known.unsure)
        scores = np.mean(unsure, axis=0) * np.mean(products, axis=0)
        return training.explain(case, scores, self.kept, models_used=max(1, len(self.models)))

    def _query(self, case: Case) -> Conversation[Floats]:
        (query,) = yield self._gradients([Target(case.text.strings, case.aim)])
        found: Floats = query
        return found

    def _gradients(self, targets: list[Target]) -> ParameterGradient:
        return ParameterGradient(targets, layers=self.layers, project=self.project)

    def _known(self, training: Training) -> Conversation[Features]:
        found: Features = yield Once(("trak", self), lambda: self._features(training))
        return found

    def _features(self, training: Training) -> Conversation[Features]:
        facts: KnownFacts = yield ModelFacts()
        if len(facts.labels) != training.chances.shape[1]:
            raise BadInput(f"{facts.name} has the labels {', '.join(facts.labels)}: it is no model of this training.")
        phi: Floats = yield self._gradients(training.margins())
        gram = phi.T @ phi
        gram += _RIDGE * max(np.trace(gram) / len(gram), 1e-12) * np.eye(len(gram))
        answers = yield from _own_chances(training)
        return Features(np.linalg.solve(gram, phi.T).T, 1 - answers)


def _own_chances(training: Training) -> Conversation[Floats]:
    """What the asked model says of the label of each training text."""
    answers: Predictions = yield Predict(*(Text.of(text_of(target.strings)) for target in training.losses.targets))
    return np.asarray(answers.probabilities[np.arange(len(training)), training.labels])
