"""What the tests of our own small models share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.engine.engine import Engine
from assay.models.own.attentive import words
from assay.text.text import Text

LINES = (
    "a man is eating a red apple in the park",
    "two dogs play with the big ball near a river",
    "the woman sleeps , and nobody eats !",
    "who is eating what ? where did the dogs play ?",
)


def tokenizer() -> Any:
    return words([(line,) for line in LINES])


def logits_at(model: Any, inputs: dict[str, Tensor], embedded: Tensor) -> Any:
    """The output of a bare model with these vectors in the place of its embeddings."""
    handle = model.get_input_embeddings().register_forward_hook(lambda *_: embedded)
    try:
        return model(**inputs)
    finally:
        handle.remove()


def masked_softmax_by_hand(scores: Sequence[float]) -> Any:
    raised = np.exp(np.array(scores) - max(scores))
    return raised / raised.sum()


def asked(model: Any, kind: Any, sources: Sequence[Any], budget: int) -> list[Any]:
    """The settled texts' answers to Predict."""
    from assay.questions.predict import Predict, Settle

    engine = Engine(model, budget=budget)
    texts = [model.clip(Text.of(one, names=model.fields, focus=model.focus)) for one in sources]
    settled = engine.ask(Settle(*texts)) if Settle in model.answers else texts
    assert kind is Predict
    return list(engine.ask(Predict(*settled)).logits)


def perturbed(model: Any) -> Any:
    """The model with one weight changed a little."""
    with torch.no_grad():
        next(model.parameters())[5, 0] += 0.125
    return model
