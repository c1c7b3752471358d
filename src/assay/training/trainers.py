"""Trainers: whatever makes a model out of labelled texts. ROAR retrains by one of them, many times.

    Words()              logistic regression on tf-idf of words (scikit-learn): a second a model, for tests and sketches
    Attend("lstm")       an encoder with one attention, see assay.training.attentive: a minute or two a model
    FineTune("mlm")      a Hugging Face encoder under a new head, see assay.training.finetune

Any object with `settings` and `train` is a trainer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from assay.errors import BadInput, UnknownName
from assay.models import TextModel
from assay.text.text import Row


@runtime_checkable
class Trainer(Protocol):
    """Makes models that are alike but for the seed."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """All that decides the models besides texts, labels and seed, as plain data."""

    def train(self, texts: Sequence[Row], labels: Sequence[str], seed: int) -> TextModel:
        """A model whose labels are the given ones; a text is a tuple of one string, or of two."""


def trainer(given: str | Trainer) -> Trainer:
    """A trainer by its name: words, attentive, attentive:ENCODER, finetune, or finetune:MODEL (where to start)."""
    if not isinstance(given, str):
        if isinstance(given, Trainer):
            return given
        raise BadInput(f"a trainer has `settings` and `train(texts, labels, seed)`; {given!r:.60} has not.")
    name, _, start = given.partition(":")
    if name == "words" and not start:
        from assay.training.words import Words

        return Words()
    if name == "finetune":
        from assay.training.finetune import FineTune  # torch is slow to import

        return FineTune(start) if start else FineTune()
    if name == "attentive":
        from assay.training.attentive import Attend

        return Attend(encoder=start) if start else Attend()  # type: ignore[arg-type]
    names = ("words", "finetune", "finetune:MODEL", "attentive", "attentive:ENCODER")
    raise UnknownName.of("trainer", given, names)
