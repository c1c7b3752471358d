"""Depth: how many layers stand between the embeddings and the head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.randomized import layers_of
from assay.statistics.arrays import Floats


class DepthHandler(Handler[HuggingFace]):
    """Counts layers; the model is not run."""

    def encode(self, model: HuggingFace, rows: Sequence[Any]) -> Sequence[Any]:
        return rows

    def answer(self, model: HuggingFace, batch: Sequence[Any]) -> list[Floats]:
        return [np.array([len(layers_of(model.network.model))], dtype=np.float64)] * len(batch)
