"""Guided MLP: whether attention tells a model without context which words matter.

    y = D(sum_i g_i tanh(W x_i + b))        with a guide g of each text that is given, in training and in testing

Wiegreffe and Pinter (2019), section 3.4, arXiv:1908.04626. Guides: uniform weights, attention that the MLP learns
itself, that of the base model, and that of a trained adversary. Higher is better; published is base > learned >
uniform, and the adversary mostly last. Base and adversary are trained once, with the first seed; with several seeds the
MLPs differ. A check of a dataset: assay.guided_mlp(train, dev, test, how=Attend(...)).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from assay.errors import BadInput
from assay.questions.inside import Attention
from assay.questions.predict import Predict
from assay.registry.cards import check


@check(
    title="Guided MLP",
    better="higher",
    paper="arXiv:1908.04626",
    needs=(Attention, Predict),
    sensitive_to="guides that give the label away: the base has seen the training texts with their labels",
    level="dataset",
    call="train, dev, test, how=Attend(...)",
)
@dataclass(frozen=True, kw_only=True)
class GuidedMlp:
    """The F1 of an MLP under each guide; `adversary` is its lambda, None goes without it."""

    seeds: tuple[int, ...] = (10,)
    adversary: float | None = 0.001
    epochs: int = 80
    patience: int = 10

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise BadInput(f"seeds are different numbers, at least one, not {self.seeds}.")
        if self.adversary is not None and not (self.adversary >= 0 and isfinite(self.adversary)):
            raise BadInput(f"adversary is its lambda, 0 or more, or None, not {self.adversary}.")
        if min(self.epochs, self.patience) < 1:
            raise BadInput("epochs and patience of the adversary are 1 or more.")
