"""Every training text's gradient with itself, by the inverse curvature: what a text does to its own loss.

values = yield SelfProducts(training, layers="all", inverse=Kronecker())     -> [training texts]
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from assay.questions.base import OneRow
from assay.questions.parameters import EqualShares, Kronecker, TrainingRows


class SelfProductsRow(NamedTuple):
    """The training texts, the parameters, and the curvature."""

    training: TrainingRows
    layers: str
    inverse: Kronecker | EqualShares

    @property
    def sequences(self) -> int:
        """How much memory its answer takes, for the engine's cache."""
        return 1 + len(self.training) // 32


class SelfProducts(OneRow):
    """g' (H + damping I)^-1 g for the gradient g of each training text; H factored by EK-FAC, or equal shares."""

    backward = True

    def __init__(self, training: TrainingRows, *, layers: str = "head", inverse: Kronecker | EqualShares) -> None:
        self.row = SelfProductsRow(training, layers, inverse)

    @classmethod
    def sequences(cls, rows: Collection[SelfProductsRow]) -> int:
        return sum(len(row.training) for row in rows)
