"""InputGradient and GradientVectors: gradients of the explained number at the output of the embedding layer.

A row is a line from a baseline to a text with one or more points on it (paths.py); every point is a sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.errors import AssayError, BadInput
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.few_rows import sums_as_in_company
from assay.models.transformers.inside import Inside
from assay.models.transformers.network import output_changed
from assay.models.transformers.paths import EncodedLine, Points, for_points, started
from assay.models.transformers.scalars import explained
from assay.models.transformers.tokens import Pieces
from assay.questions.answers import PieceGradient
from assay.questions.base import Aim
from assay.questions.gradients import Baseline, GradientRow
from assay.statistics.arrays import Floats, Ints
from assay.text.text import Text
from assay.text.variants import Symbol


class LineHandler(Handler[HuggingFace]):
    """What handlers of lines share: how lines are made and how large they are."""

    even = True

    def encode(self, model: HuggingFace, rows: Sequence[Any]) -> list[EncodedLine | AssayError]:
        return lines_of(model, rows)

    def lengths(self, model: HuggingFace, encoded: Sequence[EncodedLine]) -> list[int]:
        return widths_of(model, encoded)

    def sequences(self, model: HuggingFace, encoded: Sequence[EncodedLine]) -> list[int]:
        return [line.sequences for line in encoded]

    def vocabulary_places(self, model: HuggingFace, encoded: Sequence[EncodedLine]) -> list[int] | None:
        places = model.task.vocabulary_places(model.task.row(line.row.text, line.pieces) for line in encoded)
        return places and [n * line.sequences for n, line in zip(places, encoded, strict=True)]


class InputGradientHandler(LineHandler):
    """For every point the explained value, and one number per word."""

    def answer(self, model: HuggingFace, batch: Sequence[EncodedLine]) -> tuple[Sequence[EncodedLine], Tensor, Tensor]:
        points, values, gradient = gradient_at(model, batch)
        return batch, values.detach(), points.per_word(gradient)

    def collect(self, model: HuggingFace, outputs: Sequence[Any]) -> list[Floats]:
        return [row for output in outputs for row in _tables(*output)]


class GradientVectorsHandler(LineHandler):
    """The gradient itself, piece by piece."""

    def answer(self, model: HuggingFace, batch: Sequence[EncodedLine]) -> tuple[Sequence[EncodedLine], Tensor]:
        return batch, gradient_at(model, batch)[-1]

    def collect(self, model: HuggingFace, outputs: Sequence[Any]) -> list[PieceGradient]:
        return [_vectors(*one) for batch, gradient in outputs for one in zip(batch, gradient, strict=False)]


def lines_of(model: HuggingFace, rows: Sequence[GradientRow]) -> list[EncodedLine | AssayError]:
    """Texts and baselines are looked up once, however many rows lie between them."""
    known: dict[tuple[Text, Any], tuple[Pieces, Ints] | AssayError] = {}
    lines: list[EncodedLine | AssayError] = []
    for row in rows:
        ends = (row.text, row.baseline)
        found = known.get(ends)
        if found is None:
            found = known[ends] = _ends(model, *ends)
        lines.append(found if isinstance(found, AssayError) else EncodedLine(row, *found))
    return lines


def widths_of(model: HuggingFace, lines: Sequence[EncodedLine]) -> list[int]:
    """How many tokens a sequence of each line has, with the padding that it has in any company."""
    width, step = model.network.width, model.step
    return [width(len(line) + model.task.beside(line.row.text), step) for line in lines]


def _ends(model: HuggingFace, text: Text, baseline: Baseline | Text | None) -> tuple[Pieces, Ints] | AssayError:
    """Both ends of the line from a baseline to a text."""
    if refused := model.task.refusal(text):
        return refused
    pieces, ids = model.task.pieces(text), _baseline(model, baseline)
    return ids if isinstance(ids, AssayError) else (pieces, started(pieces, ids))


def _baseline(model: HuggingFace, baseline: Baseline | Text | None) -> tuple[int, ...] | AssayError:
    """The ids that stand for the explained pieces: one for all of them, those of another text, or none for zero."""
    if baseline is None or baseline == "zero":
        return ()
    try:
        if isinstance(baseline, str):
            return (int(model.tokenizer.convert_tokens_to_ids(model.spelling[Symbol(baseline)])),)
        pieces = model.network.encoder.pieces(baseline)
    except AssayError as error:
        return error
    ids = tuple(pieces.ids[i] for i in np.unique(pieces.piece))
    return ids or BadInput(f"the tokenizer finds nothing in the reference text {str(baseline)[:40]!r}.")


def points_of(model: HuggingFace, batch: Sequence[EncodedLine]) -> Points:
    """Where the points of a batch stand, in embeddings as the embedding layer gives them."""
    layer = model.task.embedding

    def embedded(ids: Tensor) -> Tensor:
        with torch.inference_mode(False), torch.no_grad():
            vectors: Tensor = layer(ids[None])[0]
        return vectors

    return Points(batch, embedded, model.device)


def rows_of(model: HuggingFace, batch: Sequence[EncodedLine]) -> list[Any]:
    """A row for every point, as the task takes it."""
    return for_points(batch, lambda line: model.task.row(line.row.text, line.pieces))


def logits_of(model: HuggingFace, batch: Sequence[EncodedLine]) -> Tensor:
    """What the model says at every point of a batch."""
    rows = rows_of(model, batch)
    with model.network.padded_to(model.step), sums_as_in_company(len(rows)) if model.evens else nullcontext():
        return model.task.logits(rows)


def aims_of(batch: Sequence[EncodedLine]) -> list[Aim]:
    return for_points(batch, lambda line: line.row.aim)


def embeddings_changed(model: HuggingFace, change: Callable[[Tensor], Tensor]) -> AbstractContextManager[None]:
    """Within it, the embeddings [rows, pieces, size] are what `change` makes of them, as the model lays them out."""

    def changed(embedded: Tensor) -> Tensor:
        """A copy, as some models go on in place, which a leaf of the graph does not bear."""
        if model.found.pieces_first:
            return change(embedded.transpose(0, 1)).transpose(0, 1).contiguous()
        return change(embedded).clone()

    return output_changed(model.task.embedding, changed)


def gradient_at(model: HuggingFace, batch: Sequence[EncodedLine]) -> tuple[Points, Tensor, Tensor]:
    """Explained values [n], and their gradients with respect to the embeddings [n, pieces, size]."""
    points, task = points_of(model, batch), model.task
    with torch.inference_mode(False), torch.enable_grad(), embeddings_changed(model, points.place):
        values = explained(logits_of(model, batch), aims_of(batch), task.multi_label, task.one_logit)
        (gradient,) = torch.autograd.grad(values.sum(), points.point)
    return points, values, gradient


def _tables(batch: Sequence[EncodedLine], values: Tensor, scores: Tensor) -> Iterator[Floats]:
    """For each line a table: at every point the explained value, then its words' scores."""
    table, at = torch.cat([values[:, None], scores], dim=1).double().cpu().numpy(), 0
    for line in batch:
        yield table[at : at + line.sequences, : len(line.row.text) + 1]
        at += line.sequences


def _vectors(line: EncodedLine, gradient: Tensor) -> PieceGradient:
    own = gradient[: len(line)].float().cpu().numpy()
    return PieceGradient(own, Inside(len(line.row.text), line.pieces).owners)
