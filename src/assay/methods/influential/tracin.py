"""TracIn: how much training on a text moved the prediction, step by step, as far as checkpoints show it.

    score_i = -sum_k rate_k  grad f_k(x)' grad L_k(z_i)

f_k is the explained number, L_k the loss at checkpoint k. Pruthi et al. (2020), arXiv:2002.08484 (the survey's eq. 15),
where f is minus the loss of the label: positive scores are their proponents. Without checkpoints the model as it is
stands for all of them. layers="head" is their last-layer form; gradients are those of plain gradient descent. Of a
language model the loss of a training text is the mean over its tokens, or with sum_tokens=true their sum.

relative=true divides each product by the lengths of both gradients, at every checkpoint: else texts that the model is
wrong about have the highest scores whatever is explained, and those that taught it something it now knows next to none
(Hammoudeh and Lowd 2022, arXiv:2201.10055). balanced=true gives every parameter the same share in the products of
several layers: without it the vectors that all pieces read have most of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.examples import KEPT, Examples, both_ends
from assay.methods.influential.shared import require_kept, require_same_labels, shared_training
from assay.methods.influential.training import Training
from assay.questions.base import CHECKPOINT, Conversation
from assay.questions.parameters import EqualShares, GradientProducts, ParameterGradient, Products, Target
from assay.questions.predict import Predict
from assay.questions.self_products import SelfProducts
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.text.training_set import TrainingSet

_LEAST = 1e-20  # a gradient of length 0 has a product of 0


@method(
    title="TracIn",
    row=Row.INFLUENTIAL,
    uses=Uses.GRADIENT,
    paper="arXiv:2002.08484",
    section="8.3",
    marks="C",
    needs=(Predict, ParameterGradient, GradientProducts),
    returns=Examples,
)
@dataclass(frozen=True, kw_only=True)
class Tracin:
    """What each training text did to the prediction along the training; `rates` are step sizes, 1 each by default."""

    train: TrainingSet | None = None
    checkpoints: tuple[int, ...] = ()
    rates: tuple[float, ...] = ()
    layers: str = "head"
    sum_tokens: bool = False
    relative: bool = False
    balanced: bool = False
    kept: int = KEPT

    def __post_init__(self) -> None:
        require_kept(self.kept)
        steps = max(1, len(self.checkpoints))
        if self.rates and len(self.rates) not in (1, steps):
            raise BadInput(
                f"tracin has {steps} checkpoints and takes as many rates or one for all, not {len(self.rates)}."
            )
        if self.relative and self.balanced:
            raise BadInput("relative and balanced divide by lengths of two kinds: give one of them.")

    def explain(self, case: Case) -> Conversation[Examples]:
        training = yield from shared_training(self.train, "tracin", sum_tokens=self.sum_tokens)
        one = len(self.checkpoints) < 2
        scores, parts = yield from self._summed(case, training, None, self.kept if one else 0)
        if not one:  # which texts are listed is known when all checkpoints are
            listed = both_ends(scores, self.kept)
            _, parts = yield from self._summed(case, training, listed, len(listed))
        return training.explain(case, scores, self.kept, parts, checkpoints_used=max(1, len(self.checkpoints)))

    def _summed(
        self, case: Case, training: Training, among: tuple[int, ...] | None, split: int
    ) -> Conversation[tuple[Floats, dict[int, Floats]]]:
        """Over all checkpoints: the scores, and of some texts those of their words."""
        target, scores = Target(case.text.strings, case.aim), np.zeros(len(training))
        parts: dict[int, Floats] = {}
        for step, (name, rate) in enumerate(self._steps()):
            yield from require_same_labels(name, training)
            question = GradientProducts(
                target, training.losses, layers=self.layers, inverse=self._shares, among=among, parts=split
            )
            found: Products = yield question if name is None else question.sent_to(name)
            by = rate / (yield from self._lengths(target, training, name))
            scores -= by * found.values
            both = found.parts.keys() & parts.keys() if step else found.parts.keys()  # known at every checkpoint
            parts = {i: (parts[i] if step else 0.0) - by[i] * found.parts[i] for i in both}
        return scores, parts

    @property
    def _shares(self) -> EqualShares | None:
        return EqualShares() if self.balanced else None

    def _lengths(self, target: Target, training: Training, name: str | None) -> Conversation[Floats]:
        """What the products with each training text are divided by."""
        if not self.relative:
            return np.ones(len(training))
        question = ParameterGradient([target, *training.losses.targets], layers=self.layers, reduce="norm")
        norms: Floats = yield question if name is None else question.sent_to(name)
        return np.asarray(np.maximum(norms[0, 0] * norms[1:, 0], _LEAST))

    def self_influence(self) -> Conversation[Floats]:
        """What training on a text does to its own loss: the squared norms of its gradients."""
        training = yield from shared_training(self.train, "tracin", sum_tokens=self.sum_tokens)
        total = np.zeros(len(training))
        for name, rate in self._steps():
            yield from require_same_labels(name, training)
            total += rate * (yield from self._squares(training, name))
        return total

    def _squares(self, training: Training, name: str | None) -> Conversation[Floats]:
        """The squared length of each text's gradient."""
        if self.balanced:
            shared = SelfProducts(training.losses, layers=self.layers, inverse=EqualShares())
            found: Floats = yield shared if name is None else shared.sent_to(name)
            return found
        question = ParameterGradient(training.losses.targets, layers=self.layers, reduce="norm")
        norms: Floats = yield question if name is None else question.sent_to(name)
        return np.asarray(norms[:, 0] ** 2)

    def _steps(self) -> Iterator[tuple[str | None, float]]:
        names: list[str | None] = [f"{CHECKPOINT}{number}" for number in self.checkpoints]
        names = names or [None]
        rates = self.rates * len(names) if len(self.rates) == 1 else self.rates or (1.0,) * len(names)
        return zip(names, rates, strict=True)
