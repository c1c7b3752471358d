"""GradientProducts: what the gradients of a training set have in common with that of a text, batch by batch.

The gradients of the texts, multiplied with the inverse curvature where that is wanted, stay on the device; the training
set passes by once for all texts of a batch, and only the products of its gradients are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.errors import AssayError, Unanswerable
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.curvature import inverse_products
from assay.models.transformers.handlers.parameters import encoded_targets
from assay.models.transformers.parameters import EncodedTarget, RowGradients, batched
from assay.models.transformers.tasks.base import result_or_error
from assay.questions.parameters import Inverse, ProductsRow, TrainingRows
from assay.statistics.arrays import Floats

_COARSE = {torch.float16, torch.bfloat16}  # conjugate gradients lose their way: half of a score was off
_HELD = 1 << 27  # numbers of the gradients of texts that are held while the training set passes by


class _Asked:
    """A text, and what it is multiplied with."""

    def __init__(self, row: ProductsRow, encoded: EncodedTarget) -> None:
        self.row, self.encoded = row, encoded

    def __len__(self) -> int:
        return len(self.encoded)


class GradientProductsHandler(Handler[HuggingFace]):
    """Texts that ask about the same training set and the same parameters share one pass over it."""

    def lengths(self, model: HuggingFace, encoded: Sequence[_Asked]) -> list[int]:
        """All alike: what they have in common, the training set, is what takes time, so many go together."""
        return [1] * len(encoded)

    def encode(self, model: HuggingFace, rows: Sequence[ProductsRow]) -> list[Any]:
        alike = {(row.layers, row.inverse is not None) for row in rows}
        known = {how: result_or_error(_require, model, *how) for how in alike}
        encoded = encoded_targets(model, [row.target for row in rows])
        pairs = zip(rows, encoded, strict=True)
        return [
            known[row.layers, row.inverse is not None] or (one if isinstance(one, AssayError) else _Asked(row, one))
            for row, one in pairs
        ]

    def answer(self, model: HuggingFace, batch: Sequence[_Asked]) -> list[Floats]:
        found: dict[int, Floats] = {}
        for how in dict.fromkeys(one.row[1:] for one in batch):
            places = [i for i, one in enumerate(batch) if one.row[1:] == how]
            step = max(1, _HELD // RowGradients(model, how[1]).size)
            for at in range(0, len(places), step):
                some = places[at : at + step]
                found |= dict(zip(some, _products(model, [batch[i].encoded for i in some], *how), strict=True))
        return [found[i] for i in range(len(batch))]


def _require(model: HuggingFace, layers: str, inverse: bool) -> None:
    coarse = {weight.dtype for weight in RowGradients(model, layers).parameters.values()} & _COARSE
    if inverse and coarse:
        kind = str(coarse.pop()).removeprefix("torch.")
        raise Unanswerable(
            f"the weights of {model.name} are {kind}, too coarse for products with their curvature: load the model in "
            "float32, or take solver=exact or tracin."
        )


def _products(
    model: HuggingFace,
    texts: Sequence[EncodedTarget],
    training: TrainingRows,
    layers: str,
    inverse: Inverse | None,
    among: tuple[int, ...] | None,
) -> list[Floats]:
    """For each text the damping, and its product with every training text that is wanted."""
    gradients = RowGradients(model, layers)
    rows = encoded_targets(model, training.targets)
    if failed := next((row for row in rows if isinstance(row, AssayError)), None):
        raise failed
    directions = _directions(model, gradients, texts)
    batches = list(batched(model, rows))
    damping = 0.0
    if inverse is not None:
        directions, damping = inverse_products(gradients, directions, rows, batches, inverse)
    values, wanted = np.zeros((len(texts), len(rows))), range(len(rows)) if among is None else among
    for part in batched(model, [rows[i] for i in wanted]):
        places = np.asarray(wanted)[part]
        values[:, places] = _dotted(gradients, [rows[i] for i in places], directions).double().cpu().numpy()
    return [np.concatenate([[damping], row]) for row in values]


def _directions(model: HuggingFace, gradients: RowGradients, texts: Sequence[EncodedTarget]) -> Tensor:
    """The gradients of the texts [texts, parameters], in their order."""
    found: dict[int, Tensor] = {}
    for places in batched(model, texts):
        parts = torch.cat(list(gradients.gradients([texts[i] for i in places])))
        found |= dict(zip(places.tolist(), parts, strict=True))
    return torch.stack([found[i] for i in range(len(texts))])


def _dotted(gradients: RowGradients, rows: Sequence[EncodedTarget], directions: Tensor) -> Tensor:
    """[texts, rows]"""
    return torch.cat([directions @ part.T for part in gradients.gradients(rows)], dim=1)
