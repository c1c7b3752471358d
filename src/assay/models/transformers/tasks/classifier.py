"""Sequence classifiers, for one text and for pairs: logits [n, labels]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from assay.models.transformers.tasks.base import Task, at_least_two
from assay.models.transformers.tokens import Encoded, Pieces
from assay.text.text import Row, Text


class Classifier(Task):
    """Chooses among labels; one single logit becomes two labels, as in a pipeline."""

    kind = "classifier"
    plain = True

    def rows(self, rows: Sequence[Row]) -> Sequence[Encoded]:
        return self.network.encoder.rows(rows)

    def row(self, text: Text, pieces: Pieces) -> Any:
        return pieces.ids, pieces.types

    def logits(self, batch: Sequence[Encoded]) -> Tensor:
        inputs = self.network.inputs([ids for ids, _ in batch], [types for _, types in batch])
        return at_least_two(self.network.model(**inputs).logits)
