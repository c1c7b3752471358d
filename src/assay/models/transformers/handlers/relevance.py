"""Relevance: how much of the explained number comes from each word, by the rules of AttnLRP (propagation.py).

relevance of a piece = its embedding x the gradient that follows the rules
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.errors import AssayError
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.attending import steerable
from assay.models.transformers.handlers.gradients import (
    LineHandler,
    aims_of,
    embeddings_changed,
    lines_of,
    logits_of,
    points_of,
)
from assay.models.transformers.handlers.propagation import propagation
from assay.models.transformers.inside import Inside
from assay.models.transformers.network import Network
from assay.models.transformers.paths import EncodedLine
from assay.models.transformers.scalars import explained
from assay.questions.gradients import GradientRow
from assay.questions.inside import Relevance, RelevanceRow
from assay.statistics.arrays import Floats

_BOOKED = len(Relevance.takers)  # the value, and every taker but the pieces
_UNBOOKED = 1e-3  # a gap that is more than rounding, relative to the largest part


class RelevanceHandler(LineHandler):
    """For each row the explained value, what each taker got, and the relevance of its words."""

    def encode(self, model: HuggingFace, rows: Sequence[RelevanceRow]) -> list[EncodedLine | AssayError]:
        return lines_of(model, [GradientRow(row.text, row.aim, "dot", None) for row in rows])

    def answer(self, model: HuggingFace, batch: Sequence[EncodedLine]) -> tuple[Sequence[EncodedLine], Tensor]:
        return batch, _relevance(model, batch)

    def collect(self, model: HuggingFace, outputs: Sequence[Any]) -> list[Floats]:
        return [row for batch, table in outputs for row in _per_word(batch, table.double().cpu().numpy())]


def _relevance(model: HuggingFace, batch: Sequence[EncodedLine]) -> Tensor:
    """As `_propagated`; a row whose parts do not sum to its value is booked once more, alone.

    A model may pick several places of one row and fewer of another; then the books of a batch are mixed up.
    """
    table = _propagated(model, batch)
    gap, size = table[:, 0] - table[:, 1:].sum(1), table[:, :_BOOKED].abs().amax(1)
    for i in torch.nonzero(gap.abs() > _UNBOOKED * size)[:, 0].tolist() if len(batch) > 1 else ():
        table[i, :_BOOKED] = _propagated(model, [batch[i]])[0, :_BOOKED]
    return table


def _propagated(model: HuggingFace, batch: Sequence[EncodedLine]) -> Tensor:
    """For each row the explained value, what the takers got, the scale first, and the relevance of each piece."""
    points, task = points_of(model, batch), model.task
    with torch.inference_mode(False), torch.enable_grad():
        rules = propagation(model.network.model, len(batch), model.device)
        with _in_torch(model.network), embeddings_changed(model, points.place), rules as flow:
            logits = logits_of(model, batch)
        values = explained(logits, aims_of(batch), task.multi_label, task.one_logit)
        at_logits, at_pieces = torch.autograd.grad(values.sum(), (logits, points.point))
    scale = values - (logits * at_logits).sum(1)
    pieces = (points.point * at_pieces).sum(-1)
    return torch.cat([torch.stack([values, scale, *flow.taken.values()], dim=1), pieces], dim=1).detach()


def _in_torch(network: Network) -> AbstractContextManager[None]:
    """Within it attention is computed by functions of torch itself, which can be followed."""
    ways = (None, "eager", "sdpa")
    seen = getattr(network.model.config, "_attn_implementation", None) in ways or not steerable(network.model)
    return nullcontext() if seen else network.attending_by("eager")


def _per_word(batch: Sequence[EncodedLine], table: Floats) -> Iterator[Floats]:
    """For each row the value, what each taker got (the pieces of no explained word last), and its words' relevance."""
    for line, row in zip(batch, table, strict=True):
        booked, pieces = row[:_BOOKED], row[_BOOKED:]
        words = Inside(len(line.row.text), line.pieces).owners.per_word(pieces[: len(line.pieces)])
        yield np.concatenate([booked, [pieces.sum() - words.sum()], words])
