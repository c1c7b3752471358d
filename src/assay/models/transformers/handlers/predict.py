"""Predict: the logits of rows of strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.statistics.arrays import Floats
from assay.text.text import Row


class PredictHandler(Handler[HuggingFace]):
    """One forward pass a batch; rows that are not settled are refused."""

    def encode(self, model: HuggingFace, rows: Sequence[Row]) -> Sequence[Any]:
        task = model.task
        if not task.widths:
            return task.rows(rows)
        encoded = iter(task.rows([row for row in rows if len(row) in task.widths]))
        return [next(encoded) if len(row) in task.widths else task.unsettled() for row in rows]

    def lengths(self, model: HuggingFace, encoded: Sequence[Any]) -> list[int]:
        return model.task.lengths(encoded)

    def vocabulary_places(self, model: HuggingFace, encoded: Sequence[Any]) -> list[int] | None:
        return model.task.vocabulary_places(encoded)

    def answer(self, model: HuggingFace, batch: Sequence[Any]) -> Tensor:
        with torch.no_grad():
            return model.task.logits(batch)

    def collect(self, model: HuggingFace, outputs: Sequence[Tensor]) -> list[Floats]:
        return list(torch.cat(list(outputs)).double().cpu().numpy()) if outputs else []
