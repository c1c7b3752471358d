"""SelfProducts: in the eigenbases of EK-FAC the inverse curvature is a division, so a row's product is a sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from assay.errors import AssayError
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.handlers.parameters import encoded_targets
from assay.models.transformers.handlers.products import require_fine
from assay.models.transformers.kronecker import kronecker_factors
from assay.models.transformers.parameters import RowGradients, batched
from assay.models.transformers.tasks.base import result_or_error
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
    batches = list(batched(model, rows))
    values = np.zeros(len(rows))
    with torch.autocast(model.network.device.type, enabled=False):
        factors = kronecker_factors(gradients, [[rows[i] for i in places] for places in batches])
        for places in batches:
            found = gradients.reduced([rows[i] for i in places], factors.turned)
            products = [part.square_() @ (1 / (factors.squares + asked.inverse.damping)) for part in found]
            values[places] = torch.cat(products).double().cpu().numpy()
    return values
