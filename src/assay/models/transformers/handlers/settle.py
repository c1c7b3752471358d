"""Settle: texts with what is explained in them, as the user says or as the model itself answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from assay.errors import AssayError
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.tasks.base import result_or_error
from assay.text.text import Text


class SettleHandler(Handler[HuggingFace]):
    """Opens texts, and lets the task settle them."""

    def encode(self, model: HuggingFace, rows: Sequence[Text]) -> Sequence[Any]:
        return [result_or_error(model.task.opened, text) for text in rows]

    def lengths(self, model: HuggingFace, encoded: Sequence[Any]) -> list[int]:
        return [len(row.ids) for row in encoded]

    def vocabulary_places(self, model: HuggingFace, encoded: Sequence[Any]) -> list[int]:
        return [model.task.places_to_settle] * len(encoded)

    def answer(self, model: HuggingFace, batch: Sequence[Any]) -> list[Text | AssayError]:
        with torch.no_grad():
            return model.task.settle(batch)
