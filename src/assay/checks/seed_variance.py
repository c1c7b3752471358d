"""Seed variance: how much the attention of a model changes when nothing but its random start does.

    JSD(a of the base, a of the same model under another seed), for each text the median over the seeds

Wiegreffe and Pinter (2019), section 3.3, arXiv:1908.04626: an adversary is none before it is farther away than that.
Lower is better. The seeds are those of their released code. A check of a dataset:
assay.seed_variance(train, dev, test, how=Attend(...)).
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import BadInput
from assay.questions.inside import Attention
from assay.questions.predict import Predict
from assay.registry.cards import check


@check(
    title="Seed variance",
    better="lower",
    paper="arXiv:1908.04626",
    needs=(Attention, Predict),
    sensitive_to="long training, which makes attention sharp; flat attention, which is alike under all seeds",
    level="dataset",
    call="train, dev, test, how=Attend(...)",
)
@dataclass(frozen=True, kw_only=True)
class SeedVariance:
    """How far seeds move the attention."""

    seeds: tuple[int, ...] = (50, 257, 500231, 100078, 12504, 90754789, 8988812, 2)
    base_seed: int = 10

    def __post_init__(self) -> None:
        if not self.seeds or len({*self.seeds, self.base_seed}) <= len(self.seeds):
            raise BadInput(f"seeds are different numbers, none of them that of the base ({self.base_seed}).")
