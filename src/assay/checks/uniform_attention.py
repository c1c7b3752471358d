"""Uniform attention: whether a model needs its attention at all.

    F1 of the model - F1 of the same model, trained with the weight 1 / n on each of the n words of a text

Wiegreffe and Pinter (2019), section 3.2, arXiv:1908.04626: attention explains nothing where it is not needed. Higher
means that it is needed. The paper has one model of each kind; with several seeds each is trained as often. A check of
a dataset: assay.uniform_attention(train, dev, test, how=Attend(...)).
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import BadInput
from assay.questions.inside import Attention
from assay.questions.predict import Predict
from assay.registry.cards import check


@check(
    title="Uniform attention",
    better="higher",
    paper="arXiv:1908.04626",
    needs=(Attention, Predict),
    sensitive_to="how long and with which seeds models train; tasks that a bag of states solves",
    level="dataset",
    call="train, dev, test, how=Attend(...)",
)
@dataclass(frozen=True, kw_only=True)
class UniformAttention:
    """What learned attention adds to the F1 of a model."""

    seeds: tuple[int, ...] = (10,)

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise BadInput(f"seeds are different numbers, at least one, not {self.seeds}.")
