"""TRAK: influence functions of a linear model in randomly projected gradients, over several models.

    score_i = mean_m(1 - p_mi)  mean_m( phi_m(x)' (Phi_m' Phi_m)^-1 phi_mi )

phi is a random projection of the gradient: of the log-odds of its own label for a training text, of the explained
number for the explained one; p_mi is the probability that model m gives to the label of training text i. Park et al.
(2023), arXiv:2303.14186. `models` are names of other models of the same training (`@checkpoint:3`, directories);
without any, the model itself is the only one. A small ridge, a thousandth of the mean eigenvalue, keeps the inverse
finite where there are fewer training texts than dimensions. Positive: pushed toward the label. With an `index`, made by
`assay index`, the features of the training set are on disk, with the layers and the projection that it was made with.
Of a language model phi is the gradient of the mean loss of the tokens, and the first factor is -1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.examples import KEPT, Examples
from assay.methods.influential.shared import require_kept, require_same_labels, shared_training
from assay.methods.influential.training import Training
from assay.questions.base import Conversation, elsewhere
from assay.questions.once import Once
from assay.questions.parameters import ParameterGradient, Target
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.text.gradient_index import GradientIndex
from assay.text.training_set import TrainingSet

_RIDGE = 1e-3


@dataclass(frozen=True, eq=False)
class Features:
    """Of one model: the features of the training texts, part by part; Phi' Phi, factored; and 1 - p_i [n], or -1."""

    parts: Callable[[], Iterable[Floats]]
    gram: Any
    pushes: Floats

    @classmethod
    def of(cls, parts: Callable[[], Iterable[Floats]], size: int, pushes: Floats) -> Features:
        gram = np.zeros((size, size))
        for phi in parts():
            gram += phi.T.astype(np.float64) @ phi
        ridge = _RIDGE * max(np.trace(gram) / size, 1e-12)
        return cls(parts, cho_factor(gram + ridge * np.eye(size)), pushes)

    def products(self, query: Floats) -> Floats:
        """One matrix product, over what may lie on disk."""
        solved = cho_solve(self.gram, query)
        return np.concatenate([phi @ solved.astype(phi.dtype) for phi in self.parts()]).astype(np.float64)


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
    index: GradientIndex | None = None
    project: int = 512
    layers: str = "last:2"
    models: tuple[str, ...] = ()
    kept: int = KEPT

    def __post_init__(self) -> None:
        require_kept(self.kept)
        if self.index is not None and (self.train is not None or self.models):
            raise BadInput("an index holds a training set and the gradients of one model: give no train and no models.")
        if self.project < 1:
            raise BadInput(f"trak projects to 1 dimension or more, not {self.project}.")

    def explain(self, case: Case) -> Conversation[Examples]:
        training = yield from shared_training(self.train, "trak", self.index)
        products, pushes = [], []
        for name in self.models or (None,):
            yield from require_same_labels(name, training)
            known = yield from elsewhere(self._known(training), name)
            query = yield from elsewhere(self._query(case), name)
            products.append(known.products(query))
            pushes.append(known.pushes)
        scores = np.mean(pushes, axis=0) * np.mean(products, axis=0)
        return training.explain(case, scores, self.kept, models_used=max(1, len(self.models)))

    def _query(self, case: Case) -> Conversation[Floats]:
        (query,) = yield self._gradients([Target(case.text.strings, case.aim)])
        found: Floats = query
        return found

    def _gradients(self, targets: list[Target]) -> ParameterGradient:
        if self.index is not None:
            return ParameterGradient(targets, **self.index.projection)
        return ParameterGradient(targets, layers=self.layers, project=self.project)

    def _known(self, training: Training) -> Conversation[Features]:
        found: Features = yield Once(("trak", self), lambda: self._features(training))
        return found

    def _features(self, training: Training) -> Conversation[Features]:
        if self.index is not None:
            size, pushes = self.index.header.project, training.pushes(self.index.chances)
            return Features.of(self.index.gradients, size, pushes)
        found: Floats = yield training.gradients(training.features, self.layers, self.project)
        phi, beside = found[:, : self.project], found[:, self.project :]
        return Features.of(lambda: [phi], self.project, training.pushes(beside))
