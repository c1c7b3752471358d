"""Trained adversary: whether a model can be trained that says the same and looks elsewhere.

    minimise  sum_i TVD(y_i, y'_i) - lambda sum_i KL(a_i || a'_i)        y', a' of the base model

Wiegreffe and Pinter (2019), section 4, arXiv:1908.04626. A curve over lambda of TVD against JSD that is convex speaks
against attention as explanation (far attention is cheap), a concave one for it. Lower JSD at the same TVD is better.
Kept is the epoch with the lowest training loss, as in the released code, or with choose="test" that with the lowest
loss on the test texts, as in the paper; choose="dev" does the same on dev. variant="released" scales the loss of a
batch by the costs of its gold labels. A check of a dataset: assay.trained_adversary(base, train, test).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal

from assay.errors import BadInput
from assay.questions.inside import Attention
from assay.questions.predict import Predict
from assay.registry.cards import check


@check(
    title="Trained adversary",
    better="lower",
    paper="arXiv:1908.04626",
    needs=(Attention, Predict),
    sensitive_to="how long adversaries train; lambdas that are too few to show a curve",
    level="dataset",
    call="base, train, test",
)
@dataclass(frozen=True, kw_only=True)
class TrainedAdversary:
    """How far attention can be from the base's while the answers stay."""

    lambdas: tuple[float, ...] = (0.0, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2)
    epochs: int = 80
    patience: int = 10
    choose: Literal["train", "dev", "test"] = "train"
    variant: Literal["paper", "released"] = "paper"
    seed: int = 10

    def __post_init__(self) -> None:
        if not self.lambdas or len(set(self.lambdas)) < len(self.lambdas):
            raise BadInput(f"lambdas are different numbers, at least one, not {self.lambdas}.")
        if not all(value >= 0 and isfinite(value) for value in self.lambdas):
            raise BadInput(f"lambdas are finite and not below zero, unlike {self.lambdas}.")
        if min(self.epochs, self.patience) < 1:
            raise BadInput("epochs and patience are 1 or more.")
