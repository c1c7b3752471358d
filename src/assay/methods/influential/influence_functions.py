"""Influence functions: how the prediction would change if a training text had not been there, without training again.

    score_i = -1/n  grad f(x)' (H + damping I)^-1 grad L(z_i)

f is the explained number, L the training loss, H its curvature over the n training texts; positive: z_i pushed f up.
Koh and Liang (2017), arXiv:1703.04730 (the survey's eq. 11). The released code reports the change of the loss of the
predicted label; here it is the change of whatever is explained. Damping stands for a penalty on the weights too: a
model trained with `decay |w|^2` has damping 2 decay.

    exact    H is the Gauss-Newton matrix, built and inverted once for all texts; on the last layer it is the Hessian.
             On more layers gradients are kept whole as far as they fit, or as random projections (project=512)
    cg       the Hessian, by conjugate gradients for each text; damping is raised where curvature is not positive
    lissa    the Hessian, by the stochastic recursion of Agarwal et al. (2017), arXiv:1602.03943, as in the code of Koh
             and Liang and of Han, Wallace and Tsvetkov (2020), arXiv:2005.06676; `iterations` is its depth
    ekfac    the Gauss-Newton matrix layer by layer, Kronecker-factored: Grosse et al. (2023), arXiv:2308.03296

With `neighbours=k` only the k training texts are scored that are nearest to the text in what the last layer reads, and
the others are 0: FastIF, Guo et al. (2021), arXiv:2012.15781, who take k = 1000 of 400,000 and tune the recursion; here
the scale of LiSSA is found from the largest eigenvalue where none is given.
relative=true divides by the root of each training text's self-influence, g' (H + damping I)^-1 g, which is what one
text can do at all: else the few that the model is wrong about stand first whatever is explained (Barshan, Brunet and
Dziugaite 2020, arXiv:2003.11630, their l-RelatIF).
Of a language model the loss of a training text is the mean over its tokens (or sum_tokens=true), and the Gauss-Newton
matrix is estimated with tokens that the model draws, four for each, as Grosse et al. draw one; cg and lissa have the
Hessian itself. The gradients of dropout are not taken: the model answers in evaluation mode, where Han et al. had
dropout on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.examples import KEPT, Examples
from assay.methods.influential.shared import require_kept, shared_training
from assay.methods.influential.training import Training
from assay.questions.base import Conversation
from assay.questions.once import Once
from assay.questions.parameters import (
    Conjugate,
    GradientProducts,
    Inverse,
    Kronecker,
    LastLayer,
    Lissa,
    ParameterGradient,
    Products,
    Target,
)
from assay.questions.predict import Predict
from assay.questions.self_products import SelfProducts
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.text.training_set import TrainingSet

_LARGEST = {"log_odds": 5.0, "logit": 5.0, "probability": 1.0}  # what one text may change
_LEAST = 1e-20  # a gradient of length 0 has a product of 0
_NUMBERS = 2e8  # that the gradients of a training set may be, to be kept


@dataclass(frozen=True, eq=False)
class Solved:
    """The gradients of the training losses [n, parameters], and (H + damping I)^-1 times each of them."""

    gradients: Floats
    solved: Floats


@method(
    title="Influence functions",
    row=Row.INFLUENTIAL,
    uses=Uses.GRADIENT,
    paper="arXiv:1703.04730",
    section="8.1",
    marks="H",
    needs=(Predict, ParameterGradient, GradientProducts),
    returns=Examples,
)
@dataclass(frozen=True, kw_only=True)
class InfluenceFunctions:
    """What each training text did to the prediction, by the curvature of the training loss."""

    train: TrainingSet | None = None
    layers: str = "head"
    solver: Literal["exact", "cg", "lissa", "ekfac"] = "exact"
    damping: float = 0.01
    project: int | None = None
    iterations: int = 50
    scale: float | None = None
    neighbours: int | None = None
    sum_tokens: bool = False
    relative: bool = False
    kept: int = KEPT

    def __post_init__(self) -> None:
        require_kept(self.kept)
        if self.damping < 0 or (self.damping == 0 and self.solver != "cg"):
            raise BadInput(f"influence_functions needs damping > 0 with solver={self.solver}, not {self.damping:g}.")
        if self.neighbours is not None and (self.solver == "exact" or self.neighbours < 1):
            raise BadInput("neighbours is for solver=cg, lissa or ekfac, and 1 or more; exact has all scores at once.")
        if self.project is not None and (self.solver != "exact" or self.project < 1):
            raise BadInput("project is for solver=exact, and 1 or more; the other solvers keep no gradients.")
        if self.relative and self.solver not in ("exact", "ekfac"):
            raise BadInput("relative needs the self-influence of each text: take solver=exact or ekfac.")

    def explain(self, case: Case) -> Conversation[Examples]:
        training = yield from shared_training(self.train, "influence_functions", sum_tokens=self.sum_tokens)
        target = Target(case.text.strings, case.aim)
        if self.solver == "exact":
            known: Solved = yield Once(("influence", self), lambda: self._solved(training))
            (query,) = yield self._gradients([target])
            sizes = yield from self._sizes(training)
            return self._cautious(training.explain(case, -(known.solved @ query) / sizes, self.kept))
        among = None if self.neighbours is None else (yield from self._nearest(case, training, self.neighbours))
        found: Products = yield GradientProducts(
            target, training.losses, layers=self.layers, inverse=self._inverse(case), among=among, parts=self.kept
        )
        raised = {"damping_found": found.damping} if found.damping != self.damping else {}
        sizes = yield from self._sizes(training)
        parts = {i: -part / sizes[i] for i, part in found.parts.items()}
        return self._cautious(training.explain(case, -found.values / sizes, self.kept, parts, **raised))

    def _sizes(self, training: Training) -> Conversation[Floats]:
        """What the products with each training text are divided by."""
        if not self.relative:
            return np.full(len(training), float(len(training)))
        own: Floats = yield Once(("self-influence", self), self.self_influence)
        return np.asarray(len(training) * np.sqrt(np.maximum(own, _LEAST)))

    def _cautious(self, e: Examples) -> Examples:
        """Scores are changes to first order; where they are larger than any change, only their order counts."""
        strongest = float(np.abs(e.scores).max())
        if self.relative or strongest <= _LARGEST[e.case.scalar]:
            return e
        scale = e.case.scalar.replace("_", "-")
        said = f"one training text would change the {scale} by {strongest:.3g}, beyond what the first order reaches"
        return e.told(warnings=(*e.warnings, f"{said}: read the order, not the sizes, or raise the damping"))

    def _nearest(self, case: Case, training: Training, count: int) -> Conversation[tuple[int, ...]]:
        """By Euclidean distance; among equals the earlier row first."""
        states: Floats = yield LastLayer([target.strings for target in training.losses.targets])
        (own,) = yield LastLayer([case.text.strings])
        order = np.argsort(((states - own) ** 2).sum(axis=1), kind="stable")[:count]
        return tuple(sorted(order.tolist()))

    def self_influence(self) -> Conversation[Floats]:
        """What each training text does to its own loss: the higher, the less the others say the same."""
        training = yield from shared_training(self.train, "influence_functions", sum_tokens=self.sum_tokens)
        if self.solver == "ekfac":
            products: Floats = yield SelfProducts(
                training.losses, layers=self.layers, inverse=Kronecker(damping=self.damping)
            )
            return products
        if self.solver != "exact":
            raise BadInput("self-influence is computed with solver=exact or ekfac.")
        known: Solved = yield Once(("influence", self), lambda: self._solved(training))
        return np.asarray((known.gradients * known.solved).sum(axis=1))

    def _gradients(self, targets: list[Target]) -> ParameterGradient:
        return ParameterGradient(targets, layers=self.layers, project=self.project)

    def _inverse(self, case: Case) -> Inverse:
        match self.solver:
            case "lissa":
                return Lissa(damping=self.damping, scale=self.scale, depth=self.iterations, seed=case.seed)
            case "ekfac":
                return Kronecker(damping=self.damping)
            case _:
                return Conjugate(damping=self.damping, iterations=self.iterations)

    def _solved(self, training: Training) -> Conversation[Solved]:
        targets, n = training.curved, len(training)
        (first,) = yield training.gradients(targets[:1], self.layers, self.project)
        size = len(first) - training.beside
        if size * len(targets) > _NUMBERS:
            raise BadInput(
                f"the gradients of {n:,} texts with respect to {size:,} parameters are too large to keep: "
                "give project=512, fewer layers, or solver=ekfac."
            )
        found: Floats = yield training.gradients(targets, self.layers, self.project)
        own, factor = training.curvature_factor(found)
        return Solved(own, _divided(own, factor, self.damping))


def _divided(vectors: Floats, factor: Floats, damping: float) -> Floats:
    """(F'F + damping I)^-1 v for each vector; by Woodbury's identity where F has fewer rows than columns."""
    rows, columns = factor.shape
    if columns <= rows:
        curvature = factor.T @ factor + damping * np.eye(columns)
        return np.asarray(cho_solve(cho_factor(curvature), vectors.T).T)
    inner = cho_factor(factor @ factor.T + damping * np.eye(rows))
    return np.asarray((vectors - cho_solve(inner, factor @ vectors.T).T @ factor) / damping)
