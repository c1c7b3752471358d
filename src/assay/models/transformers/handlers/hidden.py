"""Hidden: the states of every layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from assay.errors import AssayError
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.handlers.attention import inputs_of, inside
from assay.models.transformers.inside import Inside
from assay.models.transformers.tasks.base import result_or_error
from assay.questions.answers import HiddenStates
from assay.text.text import Text


class HiddenHandler(Handler[HuggingFace]):
    """States of the module that reads the text: the model, or the encoder of an encoder-decoder."""

    def encode(self, model: HuggingFace, rows: Sequence[Text]) -> list[Inside | AssayError]:
        return [result_or_error(inside, model, text) for text in rows]

    def answer(self, model: HuggingFace, batch: Sequence[Inside]) -> Any:
        inputs = inputs_of(model, batch)
        with torch.no_grad(), model.network.hooks_as_before():
            return batch, model.task.body(**inputs, output_hidden_states=True).hidden_states

    def collect(self, model: HuggingFace, outputs: Sequence[Any]) -> list[HiddenStates]:
        return [
            HiddenStates(torch.stack([layer[i, : len(row)] for layer in layers]).float().cpu().numpy(), row.owners)
            for batch, layers in outputs
            for i, row in enumerate(batch)
        ]
