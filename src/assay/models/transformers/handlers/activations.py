"""Activations: the neurons of one layer at every piece of a text."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from assay.errors import AssayError, BadInput
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.attending import ATTENTION
from assay.models.transformers.handlers.sites import ReadTexts, SiteHandler, SiteRow, encoded_text, no_neurons
from assay.models.transformers.tasks.base import result_or_error
from assay.models.transformers.units import watched
from assay.questions.answers import PieceActivations
from assay.questions.intervene import ActivationRow, Part, Site


class ActivationsHandler(SiteHandler):
    """The neurons of one layer at every piece."""

    def encode(self, model: HuggingFace, rows: Sequence[ActivationRow]) -> list[SiteRow | AssayError]:
        return [result_or_error(self._wanted, model, row) for row in rows]

    def answer(self, model: HuggingFace, batch: Sequence[SiteRow]) -> list[PieceActivations]:
        kept: dict[int, Tensor] = {}

        def keep(part: Part, layer: int, units: Tensor) -> Tensor:
            if layer in wanted:
                kept[layer] = units[..., 0]
            return units

        wanted, network = {row.sites[0].layer for row in batch}, model.network
        looking = watched(self.frame(model), keep, {"neuron"})
        with torch.no_grad(), network.without_cache(), network.attending_by(ATTENTION), looking:
            model.task.logits([row.texts.row for row in batch])
        return [
            PieceActivations(kept[row.sites[0].layer][i, : len(row)].float().cpu().numpy())
            for i, row in enumerate(batch)
        ]

    def _wanted(self, model: HuggingFace, row: ActivationRow) -> SiteRow:
        frame = self.frame(model)
        layers = len(frame.layers)
        if not -layers <= row.layer < layers:
            raise BadInput(f"there is no layer {row.layer}: there are {layers}, counted from 0.")
        if not frame.neurons[row.layer]:
            raise no_neurons(model, row.layer % layers)
        encoded, length = encoded_text(model, row.text)
        return SiteRow(ReadTexts(encoded, length, "zero"), (Site(row.layer % layers, "neuron"),))
