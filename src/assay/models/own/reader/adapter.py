"""The reader as the engine sees it: one that answers with a span."""

from __future__ import annotations

from typing import Any

from assay.models.own.small import CLOSED
from assay.models.transformers.tasks.span_reader import SpanReader


class Drqa(SpanReader):
    """Reads a question and its paragraph."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        super().__init__(model, tokenizer, **settings)
        self.answers -= CLOSED
