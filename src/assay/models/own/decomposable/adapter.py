"""Decomposable attention as the engine sees it: a classifier of a premise and a hypothesis."""

from __future__ import annotations

from typing import Any

from assay.models.own.small import CLOSED
from assay.models.transformers.tasks.classifier import Classifier


class Decomposable(Classifier):
    """Reads pairs."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        super().__init__(model, tokenizer, **settings)
        if len(self.fields) != 2:
            self.fields = ("premise", "hypothesis")
        self.answers -= CLOSED
