"""Representer points: the prediction as a sum over training texts, by a last layer that is fitted once more.

    W = argmin 1/n sum_i loss(W f_i, p_i) + decay |W|^2        f_i what the last layer reads, with a 1 for its bias
    W f(x) = sum_i a_i f_i' f(x),    a_i = (p_i - softmax(W f_i)) / (2 decay n)

p_i is what the model itself says of training text i; with targets="labels" it is the label, for a model that was itself
trained with this decay: then the fitted layer is the model's own. Yeh et al. (2018), arXiv:1811.09720 (the survey's eq.
12-13), with the decay of the released code, .003. At the optimum the sum is exact: `fit_gap` is its distance from what
the fitted layer says of x, `refit_gap` the largest distance of that layer's probabilities from the model's. Log-odds of
more than two labels and probabilities are taken to first order. Positive: pushed toward the label.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.examples import KEPT, Examples
from assay.methods.influential.shared import labelled_training, require_kept
from assay.methods.influential.training import LabelledTraining
from assay.questions.answers import scale
from assay.questions.base import Conversation
from assay.questions.once import Once
from assay.questions.parameters import LastLayer
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.text.training_set import TrainingSet

_FAR = 0.05  # a fitted layer whose probabilities are further off is another model


@dataclass(frozen=True, eq=False)
class Refitted:
    """The last layer fitted again: the states with a 1 [n, size + 1], the weights, and each text's part in them."""

    states: Floats
    weights: Floats
    parts: Floats
    gap: float
    one_logit: bool


@method(
    title="Representer points",
    row=Row.INFLUENTIAL,
    uses=Uses.WHITE_BOX,
    paper="arXiv:1811.09720",
    section="8.2",
    needs=(Predict, LastLayer),
    returns=Examples,
)
@dataclass(frozen=True, kw_only=True)
class RepresenterPoints:
    """Each training text's part in what the last layer says."""

    train: TrainingSet | None = None
    decay: float = 0.003
    targets: Literal["outputs", "labels"] = "outputs"
    kept: int = KEPT

    def __post_init__(self) -> None:
        require_kept(self.kept)
        if self.decay <= 0:
            raise BadInput(f"representer_points needs decay > 0, not {self.decay:g}: without it there is no sum.")

    def explain(self, case: Case) -> Conversation[Examples]:
        training = yield from labelled_training(self.train, "representer_points")
        fit: Refitted = yield Once(("representer", self), lambda: self._refitted(training))
        (state,) = yield LastLayer([case.text.strings])
        x = np.append(state, 1.0)
        logits = fit.weights @ x
        values = fit.parts * (fit.states @ x)[:, None]
        facts: dict[str, Any] = {"fit_gap": float(np.abs(values.sum(axis=0) - logits).max()), "refit_gap": fit.gap}
        explained = replace(case, scalar=scale(case.scalar, fit.one_logit))
        e = training.explain(case, values @ _slopes(explained, logits), self.kept, **facts)
        far = (f"the fitted last layer is off by {fit.gap:.2f} in probability: a smaller decay is closer",)
        return e.told(warnings=(*e.warnings, *far)) if fit.gap > _FAR else e

    def _refitted(self, training: LabelledTraining) -> Conversation[Refitted]:
        found: Floats = yield LastLayer([target.strings for target in training.losses.targets])
        states = np.column_stack([found, np.ones(len(found))])
        answers = yield from training.said()
        said = answers.probabilities
        wanted = said if self.targets == "outputs" else np.eye(training.label_count)[training.labels]
        weights = fitted(states, wanted, self.decay)
        chances = softmax(states @ weights.T, axis=1)
        gap = float(np.abs(chances - said).max())
        return Refitted(states, weights, (wanted - chances) / (2 * self.decay * len(states)), gap, answers.one_logit)


def fitted(states: Floats, chances: Floats, decay: float) -> Floats:
    """The weights [labels, size + 1] of the optimum."""

    def objective(flat: Floats) -> tuple[float, Floats]:
        w = flat.reshape(chances.shape[1], -1)
        logits = states @ w.T
        slope = (softmax(logits, axis=1) - chances).T @ states / len(states) + 2 * decay * w
        loss = -(chances * log_softmax(logits, axis=1)).sum() / len(states) + decay * (w**2).sum()
        return float(loss), slope.ravel()

    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-10}
    start = np.zeros(chances.shape[1] * states.shape[1])
    return np.asarray(
        minimize(objective, start, method="L-BFGS-B", jac=True, options=options).x.reshape(len(chances.T), -1)
    )


def _slopes(case: Case, logits: Floats) -> Floats:
    """How the explained number changes with each logit."""
    own = np.eye(len(logits))[case.target]
    if case.against is not None:
        return np.asarray(own - np.eye(len(logits))[case.against])
    chances = softmax(logits)
    if case.scalar == "probability":
        return np.asarray(chances[case.target] * (own - chances))
    if case.scalar == "logit":
        return np.asarray(own)
    others = np.where(own > 0, 0.0, chances)
    return np.asarray(own - others / others.sum())
