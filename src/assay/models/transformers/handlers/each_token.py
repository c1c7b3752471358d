"""EachToken: a continuation taken apart into its tokens; only the tokenizer is asked, not the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from assay.errors import BadInput
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.tasks.base import result_or_error
from assay.models.transformers.tasks.by_token import by_token
from assay.models.transformers.tasks.continued import Continued
from assay.questions.each_token import TokenTexts
from assay.text.text import Text


class EachTokenHandler(Handler[HuggingFace]):
    """Takes settled texts apart."""

    def encode(self, model: HuggingFace, rows: Sequence[Text]) -> Sequence[Any]:
        return [result_or_error(_apart, model.task, text) for text in rows]

    def lengths(self, model: HuggingFace, encoded: Sequence[Any]) -> Iterable[int]:
        return [0] * len(encoded)

    def answer(self, model: HuggingFace, batch: Sequence[TokenTexts]) -> list[TokenTexts]:
        return list(batch)


def _apart(task: Continued, text: Text) -> TokenTexts:
    if len(text.fields) > 2:
        asked = text.fields[2].string
        raise BadInput(f"explain each token, or the token {asked!r} alone, not both.")
    return by_token(task, text)
