"""Hugging Face sequence classifiers, for one text and for pairs: Predict, InputGradient and GradientVectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from assay.errors import AssayError, BadInput, ModelNotLoaded
from assay.models.transformers.adapter import Inside
from assay.models.transformers.handlers.attending import steerable, watchable
from assay.models.transformers.handlers.propagation import propagation
from assay.models.transformers.handlers.steered import STEERED, Steered
from assay.models.transformers.paths import Line, Path, for_points, started
from assay.models.transformers.scalars import explained
from assay.models.transformers.side_by_side import stateless
from assay.models.transformers.tokens import Encoded, Pieces
from assay.questions.answers import PieceGradient
from assay.questions.base import Aim, Question
from assay.questions.gradients import Baseline, GradientRow, GradientVectors, InputGradient
from assay.questions.inside import Relevance
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats, Ints
from assay.text.text import Text
from assay.text.variants import Symbol

_GRADIENTS = (InputGradient, GradientVectors, Relevance)
_BOOKED = len(Relevance.takers)  # the value, and every taker but the pieces
_UNBOOKED = 1e-3  # a gap that is more than rounding, relative to the largest part


class Classifier(Steered):
    """Answers with logits [n, labels]; one single logit becomes two labels, as in a pipeline."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        super().__init__(model, tokenizer, **settings)
        config = model.config
        if getattr(config, "problem_type", None) == "regression":
            raise ModelNotLoaded(f"{self.name} is a regression model; Assay explains models that choose among labels.")
        several = getattr(config, "problem_type", None) == "multi_label_classification"
        self.multi_label = several and config.num_labels > 1
        self.labels = _labels(config)
        self.answers |= {Predict, *_GRADIENTS} if self._has_gradients() else {Predict}
        if self._has_gradients() and watchable(model):
            self.answers |= {*STEERED}
        # Without a padding token, decoders cannot tell where a shorter row of a batch ends.
        self.most_rows = 1 if getattr(config, "pad_token_id", None) is None else None
        self.line_tokens = 0 if self.most_rows else self.line_tokens

    @property
    def side_by_side(self) -> frozenset[type[Question]]:
        """Plain forward passes alone: gradients, and adapters that look for one place, hang hooks on the model."""
        plain = type(self) is Classifier and stateless(self.model)
        return frozenset({Predict}) if plain else frozenset()

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        if kind is Predict:
            return self.encoder.rows(rows)
        if kind is Relevance:
            rows = [GradientRow(row.text, row.aim, "dot", None) for row in rows]
        return self._lines(rows) if kind in _GRADIENTS else super().encode(kind, rows)

    def _lines(self, rows: Sequence[GradientRow]) -> list[Line | AssayError]:
        """Texts and baselines are looked up once, however many rows lie between them."""
        known: dict[tuple[Text, Any], tuple[Pieces, Ints] | AssayError] = {}
        lines: list[Line | AssayError] = []
        for row in rows:
            way = (row.text, row.baseline)
            found = known.get(way)
            if found is None:
                found = known[way] = self._way(*way)
            lines.append(found if isinstance(found, AssayError) else Line(row, *found))
        return lines

    def _way(self, text: Text, baseline: Baseline | Text | None) -> tuple[Pieces, Ints] | AssayError:
        """Both ends of the line from a baseline to a text."""
        pieces, ids = self.pieces(text), self._baseline(baseline)
        return ids if isinstance(ids, AssayError) else (pieces, started(pieces, ids))

    def lengths(self, encoded: Sequence[Any]) -> Sequence[int]:
        return [len(row[0]) if isinstance(row, tuple) else len(row) for row in encoded]

    def sequences(self, encoded: Sequence[Any]) -> Sequence[int] | None:
        return [line.sequences for line in encoded] if encoded and isinstance(encoded[0], Line) else None

    def answer(self, kind: type[Question], batch: Sequence[Any]) -> Any:
        if kind is Predict:
            with torch.no_grad():
                return self._logits(batch)
        if kind is GradientVectors:
            return batch, self._gradient(batch)[-1]
        if kind is Relevance:
            return batch, self._relevance(batch)
        return self._gradients(batch) if kind is InputGradient else super().answer(kind, batch)

    def collect(self, kind: type[Question], outputs: Sequence[Any]) -> list[Any]:
        if not outputs:
            return []
        if kind is Predict:
            return list(torch.cat(list(outputs)).double().cpu().numpy())
        if kind is GradientVectors:
            return [_vectors(*one) for batch, gradient in outputs for one in zip(batch, gradient, strict=True)]
        if kind is Relevance:
            return [row for batch, table in outputs for row in _relevances(batch, table.double().cpu().numpy())]
        if kind is not InputGradient:
            return super().collect(kind, outputs)
        return [row for output in outputs for row in _tables(*output)]

    def _row(self, line: Line) -> Any:
        """A point on the line as `_logits` takes it."""
        return line.pieces.ids, line.pieces.types

    def _has_gradients(self) -> bool:
        """Not where encoder and decoder both read the text: its words would come in by two layers, one shifted."""
        kind, config = type(self.model).__name__, self.model.config
        twice = getattr(config, "is_encoder_decoder", False) and kind.endswith("ForSequenceClassification")
        return self.encoder.has_offsets and isinstance(self.embedding, nn.Module) and not twice

    def _logits(self, batch: Sequence[Encoded]) -> Tensor:
        logits: Tensor = self.model(**self.inputs([ids for ids, _ in batch], [types for _, types in batch])).logits
        return torch.cat([-logits, logits], dim=1) / 2 if logits.shape[1] == 1 else logits

    def _gradients(self, batch: Sequence[Line]) -> tuple[Sequence[Line], Tensor, Tensor]:
        """Beside the lines, for every point the explained value [n] and one number per word [n, words]."""
        path, values, gradient = self._gradient(batch)
        return batch, values.detach(), path.per_word(gradient)

    def _gradient(self, batch: Sequence[Line]) -> tuple[Path, Tensor, Tensor]:
        """Explained values [n], and their gradients with respect to the embeddings [n, pieces, size]."""
        path = Path(batch, self._embedded, self.device)
        with torch.inference_mode(False), torch.enable_grad(), self.embeddings(path.place):
            values = explained(self._logits(for_points(batch, self._row)), _aims(batch), self.multi_label)
            (gradient,) = torch.autograd.grad(values.sum(), path.point)
        return path, values, gradient

    def _relevance(self, batch: Sequence[Line]) -> Tensor:
        """As `_propagated`; a row whose parts do not sum to its value is booked once more, alone.

        A model may pick several places of one row and fewer of another; then the books of a batch are mixed up.
        """
        table = self._propagated(batch)
        gap, size = table[:, 0] - table[:, 1:].sum(1), table[:, :_BOOKED].abs().amax(1)
        for i in torch.nonzero(gap.abs() > _UNBOOKED * size)[:, 0].tolist() if len(batch) > 1 else ():
            table[i, :_BOOKED] = self._propagated([batch[i]])[0, :_BOOKED]
        return table

    def _propagated(self, batch: Sequence[Line]) -> Tensor:
        """For each row the explained value, what the takers got, the scale first, and the relevance of each piece."""
        path = Path(batch, self._embedded, self.device)
        with torch.inference_mode(False), torch.enable_grad():
            rules = propagation(self.model, len(batch), self.device)
            with self._in_torch(), self.embeddings(path.place), rules as flow:
                logits = self._logits(for_points(batch, self._row))
            values = explained(logits, _aims(batch), self.multi_label)
            at_logits, at_pieces = torch.autograd.grad(values.sum(), (logits, path.point))
        scale = values - (logits * at_logits).sum(1)
        pieces = (path.point * at_pieces).sum(-1)
        return torch.cat([torch.stack([values, scale, *flow.taken.values()], dim=1), pieces], dim=1).detach()

    def _in_torch(self) -> AbstractContextManager[None]:
        """Within it attention is computed by functions of torch itself, which can be followed."""
        ways = (None, "eager", "sdpa")
        seen = getattr(self.model.config, "_attn_implementation", None) in ways or not steerable(self.model)
        return nullcontext() if seen else self._eager()

    def _embedded(self, ids: Tensor) -> Tensor:
        """As the embedding layer gives them."""
        with torch.inference_mode(False), torch.no_grad():
            vectors: Tensor = self.embedding(ids[None])[0]
        return vectors

    def _baseline(self, baseline: Baseline | Text | None) -> tuple[int, ...] | AssayError:
        """The ids that stand for the explained pieces: one for all of them, those of another text, or none for zero."""
        if baseline is None or baseline == "zero":
            return ()
        try:
            if isinstance(baseline, str):
                return (int(self.tokenizer.convert_tokens_to_ids(self.spelling[Symbol(baseline)])),)
            pieces = self.encoder.pieces(baseline)
        except AssayError as error:
            return error
        ids = tuple(pieces.ids[i] for i in np.unique(pieces.piece))
        return ids or BadInput(f"the tokenizer finds nothing in the reference text {str(baseline)[:40]!r}.")


def _aims(batch: Sequence[Line]) -> list[Aim]:
    return for_points(batch, lambda line: line.row.aim)


def _tables(batch: Sequence[Line], values: Tensor, scores: Tensor) -> Iterator[Floats]:
    """For each line a table: at every point the explained value, then its words' scores."""
    table, at = torch.cat([values[:, None], scores], dim=1).double().cpu().numpy(), 0
    for line in batch:
        yield table[at : at + line.sequences, : len(line.row.text) + 1]
        at += line.sequences


def _vectors(line: Line, gradient: Tensor) -> PieceGradient:
    own = gradient[: len(line)].float().cpu().numpy()
    return PieceGradient(own, Inside(len(line.row.text), line.pieces).owners)


def _relevances(batch: Sequence[Line], table: Floats) -> Iterator[Floats]:
    """For each row the value, what each taker got (the pieces of no explained word last), and its words' relevance."""
    for line, row in zip(batch, table, strict=True):
        booked, pieces = row[:_BOOKED], row[_BOOKED:]
        words = Inside(len(line.row.text), line.pieces).owners.per_word(pieces[: len(line.pieces)])
        yield np.concatenate([booked, [pieces.sum() - words.sum()], words])


def _labels(config: Any) -> tuple[str, ...]:
    names = [str(config.id2label.get(i, i)) for i in range(config.num_labels)]
    return tuple(names) if len(names) > 1 else (f"not {names[0]}", names[0])
