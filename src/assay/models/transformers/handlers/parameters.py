"""ParameterGradient and LastLayer: gradients of rows, reduced batch by batch, and what the last layer reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from assay.errors import AssayError, BadInput, Unanswerable
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.handlers.generate import continued
from assay.models.transformers.parameters import RowGradients, last_linear
from assay.models.transformers.row_outputs import EncodedTarget, outputs_of
from assay.models.transformers.row_reductions import reduction
from assay.models.transformers.tasks.base import at_least_two, result_or_error
from assay.models.transformers.tasks.continued import Learned
from assay.questions.parameters import GradientTarget, Target
from assay.statistics.arrays import Floats
from assay.text.text import Row

R = TypeVar("R")
_WHOLE = 1 << 18  # parameters up to which a gradient may be asked for whole
_SAME = 1e-4  # logits that differ by less are those of one state


def encoded_targets(model: HuggingFace, targets: Sequence[Target]) -> list[Any]:
    """Each target as the model reads it, or its error."""
    return list(outputs_of(model).encoded(targets))


class ParameterGradientHandler(Handler[HuggingFace]):
    """Gradients of rows; of rows that differ in what is left of them, those that are alike go together."""

    even = True

    def encode(self, model: HuggingFace, rows: Sequence[GradientTarget]) -> list[Any]:
        alike = {row[1:]: row for row in rows}
        known = {how: result_or_error(_require, model, row) for how, row in alike.items()}
        encoded = encoded_targets(model, [row.target for row in rows])
        pairs = zip(rows, encoded, strict=True)
        return [known[row[1:]] or (one if isinstance(one, AssayError) else EncodedRow(row, one)) for row, one in pairs]

    def answer(self, model: HuggingFace, batch: Sequence[EncodedRow[GradientTarget]]) -> list[Tensor]:
        found: list[Tensor] = [torch.empty(0)] * len(batch)
        for how in {one.row[1:] for one in batch}:
            places = [i for i, one in enumerate(batch) if one.row[1:] == how]
            gradients = RowGradients(model, how[0])
            kept = reduction(*how[1:], gradients.parameters)
            reduced = torch.cat(list(gradients.reduced([batch[i].encoded for i in places], kept)))
            for i, one in zip(places, reduced, strict=True):
                found[i] = one
        return found

    def collect(self, model: HuggingFace, outputs: Sequence[Any]) -> list[Floats]:
        return [row.double().cpu().numpy() for output in outputs for row in output]


class EncodedRow(Generic[R]):
    """A row of a question and how its text is encoded."""

    def __init__(self, row: R, encoded: EncodedTarget) -> None:
        self.row, self.encoded = row, encoded

    def __len__(self) -> int:
        return len(self.encoded)


def _require(model: HuggingFace, row: GradientTarget) -> None:
    size = RowGradients(model, row.layers).size
    if row.reduce == "whole" and size > _WHOLE:
        raise BadInput(
            f"layers={row.layers!r} of {model.name} are {size:,} parameters, too many to keep a gradient whole: "
            f"choose fewer, or project=512."
        )


class LossTokensHandler(Handler[HuggingFace]):
    """Asks the task; the model is not run."""

    def encode(self, model: HuggingFace, rows: Sequence[Row]) -> Sequence[Any]:
        return [continued(model).learned(row) for row in rows]

    def lengths(self, model: HuggingFace, encoded: Sequence[Learned]) -> list[int]:
        return [1] * len(encoded)

    def answer(self, model: HuggingFace, batch: Sequence[Learned]) -> list[Floats]:
        return [np.array([len(one.wanted.at), one.beyond], dtype=float) for one in batch]


class LastLayerHandler(Handler[HuggingFace]):
    """One forward pass, with an eye on the input of the layer that gives the logits."""

    def encode(self, model: HuggingFace, rows: Sequence[Row]) -> Sequence[Any]:
        return model.task.rows(rows)

    def lengths(self, model: HuggingFace, encoded: Sequence[Any]) -> list[int]:
        return model.task.lengths(encoded)

    def answer(self, model: HuggingFace, batch: Sequence[Any]) -> Tensor:
        seen: list[tuple[Tensor, Tensor]] = []
        layer = last_linear(model.network.model)
        handle = layer.register_forward_hook(lambda module, args, output: seen.append((args[0], output)))
        try:
            with torch.no_grad():
                logits = model.task.logits(batch)
        finally:
            handle.remove()
        return _states(*seen[-1], logits) if seen else _no_state()

    def collect(self, model: HuggingFace, outputs: Sequence[Tensor]) -> list[Floats]:
        return [row.double().cpu().numpy() for output in outputs for row in output]


def _states(states: Tensor, outputs: Tensor, logits: Tensor) -> Tensor:
    """The state of each row that its logits were made of; a decoder reads many and answers from one."""
    if states.dim() == 2 and len(states) == len(logits):
        return states
    if states.dim() != 3 or len(states) != len(logits):
        return _no_state()
    distance = (at_least_two(outputs) - logits[:, None]).abs().amax(dim=-1)
    if float(distance.min(dim=1).values.max()) > _SAME:
        return _no_state()
    return states[torch.arange(len(states)), distance.argmin(dim=1)]


def _no_state() -> Tensor:
    raise Unanswerable(
        "the last layer of this model does not read one state for each text, so it cannot be fitted again; "
        "influence_functions and tracin work with it."
    )
