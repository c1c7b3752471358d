"""SelfProducts: in the eigenbases of EK-FAC the inverse curvature is a division, so a row's product is a sum.

With equal shares it is a sum over parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.errors import AssayError
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.equal_shares import shares, squares
from assay.models.transformers.handlers.parameters import encoded_targets
from assay.models.transformers.handlers.products import require_fine
from assay.models.transformers.kronecker import kronecker_factors
from assay.models.transformers.parameters import RowGradients, batched
from assay.models.transformers.row_outputs import EncodedTarget
from assay.models.transformers.tasks.base import result_or_error
from assay.questions.parameters import EqualShares, Kronecker
from assay.questions.self_products import SelfProductsRow
from assay.statistics.arrays import Floats


class SelfProductsHandler(Handler[HuggingFace]):
    """One training set after the other: each is passed by three times."""

    def lengths(self, model: HuggingFace, encoded: Sequence[SelfProductsRow]) -> list[int]:
        return [len(row.training) for row in encoded]

    def encode(self, model: HuggingFace, rows: Sequence[SelfProductsRow]) -> list[Any]:
        return [result_or_error(require_fine, model, row.layers, True) or row for row in rows]

    def answer(self, model: HuggingFace, batch: Sequence[SelfProductsRow]) -> list[Floats]:
        return [_self_products(model, row) for row in batch]


def _self_products(model: HuggingFace, asked: SelfProductsRow) -> Floats:
    gradients, rows = RowGradients(model, asked.layers), encoded_targets(model, asked.training.targets)
    if failed := next((row for row in rows if isinstance(row, AssayError)), None):
        raise failed
    places = list(batched(model, rows))
    batches = [[rows[i] for i in part] for part in places]
    with torch.autocast(model.network.device.type, enabled=False):
        how = _by_shares if isinstance(asked.inverse, EqualShares) else _by_factors
        found = how(gradients, batches, asked)
    values = np.zeros(len(rows))
    values[np.concatenate(places)] = found.double().cpu().numpy()
    return values


def _by_shares(gradients: RowGradients, batches: list[list[EncodedTarget]], asked: SelfProductsRow) -> Tensor:
    found = torch.cat(list(squares(gradients, batches)))
    return found @ shares(found)


def _by_factors(gradients: RowGradients, batches: list[list[EncodedTarget]], asked: SelfProductsRow) -> Tensor:
    assert isinstance(asked.inverse, Kronecker)
    factors = kronecker_factors(gradients, batches)
    by = 1 / (factors.squares + asked.inverse.damping)
    return torch.cat([part.square_() @ by for batch in batches for part in gradients.reduced(batch, factors.turned)])
