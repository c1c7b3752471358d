"""Attention: the weights of every layer and head, which only the eager implementation of transformers returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from assay.errors import AssayError
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.inside import Inside
from assay.models.transformers.tasks.base import result_or_error
from assay.questions.answers import AttentionMaps
from assay.text.text import Text


class AttentionHandler(Handler[HuggingFace]):
    """Weights as the model has them."""

    def encode(self, model: HuggingFace, rows: Sequence[Text]) -> list[Inside | AssayError]:
        return [result_or_error(inside, model, text) for text in rows]

    def answer(self, model: HuggingFace, batch: Sequence[Inside]) -> Any:
        network, inputs = model.network, inputs_of(model, batch)
        with torch.no_grad(), network.hooks_as_before(), network.attending_by("eager"):
            return batch, network.model(**inputs, output_attentions=True).attentions

    def collect(self, model: HuggingFace, outputs: Sequence[Any]) -> list[AttentionMaps]:
        return [attention_maps(row, layers, i) for batch, layers in outputs for i, row in enumerate(batch)]


def inside(model: HuggingFace, text: Text) -> Inside:
    """A text to look into, with the pieces whose states become the answer."""
    pieces = model.task.pieces(text)
    return Inside(len(text), pieces, model.readers(text, pieces))


def inputs_of(model: HuggingFace, batch: Sequence[Inside]) -> dict[str, Tensor]:
    return model.network.inputs([row.pieces.ids for row in batch], [row.pieces.types for row in batch])


def attention_maps(row: Inside, layers: Sequence[Tensor], i: int) -> AttentionMaps:
    """Of row i of a batch, without its padding."""
    n = len(row.pieces)
    weights = torch.stack([layer[i, :, :n, :n] for layer in layers]).float().cpu().numpy()
    return AttentionMaps(weights, row.owners, row.readers)
