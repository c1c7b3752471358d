"""What an audit found out about the attention of one text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from assay.explanations.token_scores import TokenScores
from assay.statistics.arrays import Floats
from assay.statistics.divergence import entropy
from assay.statistics.ranks import Tau

# Between which rankings of the words tau is taken; `random` is a map of random numbers, as a floor.
PAIRS: Mapping[str, tuple[str, str]] = {
    "attention_gradient": ("attention", "gradient"),
    "attention_loo": ("attention", "leave-one-out"),
    "gradient_loo": ("gradient", "leave-one-out"),
    "random_gradient": ("random", "gradient"),
    "random_loo": ("random", "leave-one-out"),
}
_NUMBERS = ("median_tvd", "jsd", "adversary_tvd", "within", "placed")


@dataclass(frozen=True, eq=False)
class AuditedText(TokenScores):
    """The scores are the attention that the words have among themselves; a tau that is not defined is None.

    median_tvd      how far the median permutation of the attention moves the answer
    adversary       the furthest attention that keeps the answer within epsilon; its `jsd`, and its `adversary_tvd`
    within          how many adversaries keep the answer
    placed          how far the answer moves when this attention is put into the model: 0 but for several heads
    """

    kind: ClassVar[str] = "AuditedText"

    gradient: Floats = field(default_factory=lambda: np.zeros(0))
    leave_one_out: Floats = field(default_factory=lambda: np.zeros(0))
    adversary: Floats = field(default_factory=lambda: np.zeros(0))
    taus: Mapping[str, Tau | None] = field(default_factory=dict)
    median_tvd: float = 0.0
    jsd: float = 0.0
    adversary_tvd: float = 0.0
    within: int = 0
    placed: float = 0.0
    gold: str | None = None

    @property
    def max_attention(self) -> float:
        return float(self.scores.max())

    @property
    def entropy(self) -> float:
        return float(entropy(self.scores))

    @property
    def attention(self) -> TokenScores:
        """The attention as a map to be drawn."""
        return self._map(self.scores)

    @property
    def other(self) -> TokenScores:
        """The adversarial attention as a map to be drawn."""
        return self._map(self.adversary)

    def _map(self, scores: Floats) -> TokenScores:
        same = {name: getattr(self, name) for name in ("unseen", "given", "prediction", "about")}
        return TokenScores(self.case, scores, facts={"signed": False}, **same)

    @property
    def line(self) -> dict[str, Any]:
        """The numbers of this text, as a row of a table."""
        shown = {"text": " | ".join(self.strings), "words": len(self.text), "predicted": self.label, "gold": self.gold}
        peak = {"max_attention": self.max_attention, "entropy": self.entropy}
        taus = {f"tau_{name}": None if tau is None else tau.value for name, tau in self.taus.items()}
        chances = {f"p_{name}": None if tau is None else tau.p_value for name, tau in self.taus.items()}
        return {**shown, **peak, **taus, **chances, **{name: getattr(self, name) for name in _NUMBERS}}

    def to_dict(self) -> dict[str, Any]:
        maps = {name: getattr(self, name).tolist() for name in ("gradient", "leave_one_out", "adversary")}
        taus = {name: tau and tau._asdict() for name, tau in self.taus.items()}
        numbers = {name: getattr(self, name) for name in (*_NUMBERS, "gold")}
        return {**super().to_dict(), **maps, "taus": taus, **numbers}

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        maps = {name: np.array(data[name]) for name in ("gradient", "leave_one_out", "adversary")}
        taus = {name: Tau(**tau) if tau else None for name, tau in data["taus"].items()}
        numbers = {name: data[name] for name in (*_NUMBERS, "gold")}
        return {**super()._own(data), **maps, "taus": taus, **numbers}
