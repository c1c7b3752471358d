"""The outputs of a model, and what is explained where it answers freely.

answers = yield Predict(text, variants)              -> Predictions, one row per text and variant
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from assay.questions.answers import Predictions
from assay.questions.base import Question, Speaker
from assay.questions.portions import large, portions, weight
from assay.statistics.arrays import Floats
from assay.text.text import Row, Text
from assay.text.variants import Variants

_MOST_CELLS = 1 << 26  # of masks that are looked at: larger ones take one word at a time from a very long text


class Predict(Question):
    """The outputs of the model for texts and variants of texts, in this order."""

    def __init__(self, *inputs: Text | Variants) -> None:
        self.inputs, self._is_part = inputs, False

    def parts(self) -> Iterator[Question] | None:
        return None if self._is_part or not large(*self.inputs) else map(self._part, portions(*self.inputs))

    def _part(self, inputs: tuple[Text | Variants, ...]) -> Predict:
        part = Predict(*inputs)
        part.model, part.weight, part._is_part = self.model, weight(*inputs), True
        return part

    def joined(self, answer: Predictions, following: Predictions) -> Predictions:
        return replace(answer, logits=np.concatenate([answer.logits, following.logits]))

    def leaves_nothing(self) -> bool:
        """Whether one of the texts or versions has no word at all for the model to read."""
        return any(_empty(part) if isinstance(part, Text) else _all_erased(part) for part in self.inputs)

    def rows(self, model: Speaker) -> Sequence[Row]:
        rows: list[Row] = []
        for part in self.inputs:
            rows += [part.strings] if isinstance(part, Text) else part.rows(model.spelling)
        return rows

    def assemble(self, values: Sequence[Floats], model: Speaker) -> Predictions:
        return Predictions(np.array(values), model.multi_label, model.one_logit)


def _empty(text: Text) -> bool:
    return not any(field.string.strip() for field in text.fields if field.part != "note")


def _all_erased(versions: Variants) -> bool:
    text, keep = versions.text, versions.keep
    others = (field for field in text.fields if field.name not in text.focus and field.part != "note")
    beside = any(field.string.strip() for field in others)
    if versions.fill is not None or beside or keep.size > _MOST_CELLS:
        return False
    return not bool(keep.any(axis=1).all())


class Settle(Question):
    """What is to be explained of texts that a model answers freely: each text with its answer as one more field."""

    def __init__(self, *texts: Text) -> None:
        self.texts = texts

    def rows(self, model: Speaker) -> Sequence[Text]:
        return self.texts
