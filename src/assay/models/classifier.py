"""Hugging Face sequence classifiers, for one text and for pairs: Predict, InputGradient and GradientVectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from assay.answers import Floats, Ints, PieceGradient
from assay.ask import (
    Baseline,
    GradientRow,
    GradientVectors,
    InputGradient,
    Predict,
    Question,
    Reduce,
    Relevance,
    Symbol,
)
from assay.errors import AssayError, BadInput, ModelNotLoaded
from assay.models.attending import steerable, watchable
from assay.models.hugging_face import Inside
from assay.models.pieces import Encoded, Pieces
from assay.models.propagation import propagation
from assay.models.scalars import explained
from assay.models.side_by_side import stateless
from assay.models.steered import STEERED, Steered
from assay.models.transfer import to_device
from assay.text import Text

_GRADIENTS = (InputGradient, GradientVectors, Relevance)
_BOOKED = len(Relevance.takers)  # the value, and every taker but the pieces
_UNBOOKED = 1e-3  # a gap that is more than rounding, relative to the largest part


@dataclass(slots=True)  # not frozen: that takes four times as long to make, and there are fifty to a text
class Point:
    """A gradient row with the pieces of its text, and the ids that stand for the explained ones at its baseline."""

    row: GradientRow
    pieces: Pieces
    start: Ints

    def __len__(self) -> int:
        return len(self.pieces.ids)


def _started(pieces: Pieces, baseline: tuple[int, ...]) -> Ints:
    """For every explained piece the id at the baseline, the baseline's ids again and again; -1 for zero."""
    if len(baseline) < 2:
        return np.full(len(pieces.piece), baseline[0] if baseline else -1, dtype=np.int64)
    _, order = np.unique(pieces.piece, return_inverse=True)
    return np.asarray(np.array(baseline, dtype=np.int64)[order % len(baseline)])


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

    @property
    def side_by_side(self) -> frozenset[type[Question]]:
        """Plain forward passes alone: gradients, and adapters that look for one place, hang hooks on the model."""
        plain = type(self) is Classifier and stateless(self.model)
        return frozenset({Predict}) if plain else frozenset()

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        if kind is Predict:
            return self.encoder.rows(rows)
        if kind is Relevance:
            rows = [GradientRow(row.text, row.aim, "dot", None, 1.0) for row in rows]
        return self._points(rows) if kind in _GRADIENTS else super().encode(kind, rows)

    def _points(self, rows: Sequence[GradientRow]) -> list[Point | AssayError]:
        """Texts and baselines are looked up once, however many points lie between them."""
        known: dict[tuple[Text, Any], tuple[Pieces, Ints] | AssayError] = {}
        points: list[Point | AssayError] = []
        for row in rows:
            way = (row.text, row.baseline)
            found = known.get(way)
            if found is None:
                found = known[way] = self._way(*way)
            points.append(found if isinstance(found, AssayError) else Point(row, *found))
        return points

    def _way(self, text: Text, baseline: Baseline | Text | None) -> tuple[Pieces, Ints] | AssayError:
        """Both ends of the line from a baseline to a text."""
        pieces, ids = self.pieces(text), self._baseline(baseline)
        return ids if isinstance(ids, AssayError) else (pieces, _started(pieces, ids))

    def lengths(self, encoded: Sequence[Any]) -> Sequence[int]:
        return [len(row[0]) if isinstance(row, tuple) else len(row) for row in encoded]

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
        return [row for output in outputs for row in _rows(*output)]

    def _row(self, point: Point) -> Any:
        """A point on the way as `_logits` takes it."""
        return point.pieces.ids, point.pieces.types

    def _has_gradients(self) -> bool:
        """Not where encoder and decoder both read the text: its words would come in by two layers, one shifted."""
        kind, config = type(self.model).__name__, self.model.config
        twice = getattr(config, "is_encoder_decoder", False) and kind.endswith("ForSequenceClassification")
        return self.encoder.has_offsets and isinstance(self.embedding, nn.Module) and not twice

    def _logits(self, batch: Sequence[Encoded]) -> Tensor:
        logits: Tensor = self.model(**self.inputs([ids for ids, _ in batch], [types for _, types in batch])).logits
        return torch.cat([-logits, logits], dim=1) / 2 if logits.shape[1] == 1 else logits

    def _gradients(self, batch: Sequence[Point]) -> tuple[Tensor, Tensor, list[int]]:
        """Explained values [n], one number per word [n, words], and how many words each row has."""
        path, values, gradient = self._gradient(batch)
        return values.detach(), path.per_word(gradient), [len(point.row.text) for point in batch]

    def _gradient(self, batch: Sequence[Point]) -> tuple[_Path, Tensor, Tensor]:
        """Explained values [n], and their gradients with respect to the embeddings [n, pieces, size]."""
        path = _Path(batch, self._starts(batch))
        with torch.inference_mode(False), torch.enable_grad(), self.embeddings(path.place):
            logits = self._logits([self._row(point) for point in batch])
            values = explained(logits, [point.row.aim for point in batch], self.multi_label)
            (gradient,) = torch.autograd.grad(values.sum(), path.point)
        return path, values, gradient

    def _relevance(self, batch: Sequence[Point]) -> Tensor:
        """As `_propagated`; a row whose parts do not sum to its value is booked once more, alone.

        A model may pick several places of one row and fewer of another; then the books of a batch are mixed up.
        """
        table = self._propagated(batch)
        gap, size = table[:, 0] - table[:, 1:].sum(1), table[:, :_BOOKED].abs().amax(1)
        for i in torch.nonzero(gap.abs() > _UNBOOKED * size)[:, 0].tolist() if len(batch) > 1 else ():
            table[i, :_BOOKED] = self._propagated([batch[i]])[0, :_BOOKED]
        return table

    def _propagated(self, batch: Sequence[Point]) -> Tensor:
        """For each row the explained value, what the takers got, the scale first, and the relevance of each piece."""
        path = _Path(batch, self._starts(batch))
        with torch.inference_mode(False), torch.enable_grad():
            rules = propagation(self.model, len(batch), self.device)
            with self._in_torch(), self.embeddings(path.place), rules as flow:
                logits = self._logits([self._row(point) for point in batch])
            values = explained(logits, [point.row.aim for point in batch], self.multi_label)
            at_logits, at_pieces = torch.autograd.grad(values.sum(), (logits, path.point))
        scale = values - (logits * at_logits).sum(1)
        pieces = (path.point * at_pieces).sum(-1)
        return torch.cat([torch.stack([values, scale, *flow.taken.values()], dim=1), pieces], dim=1).detach()

    def _in_torch(self) -> AbstractContextManager[None]:
        """Within it attention is computed by functions of torch itself, which can be followed."""
        ways = (None, "eager", "sdpa")
        seen = getattr(self.model.config, "_attn_implementation", None) in ways or not steerable(self.model)
        return nullcontext() if seen else self._eager()

    def _starts(self, batch: Sequence[Point]) -> Tensor:
        """What stands at the baseline for every explained piece of the batch, as the embedding layer gives it."""
        ids = to_device(np.concatenate([point.start for point in batch]), self.device)
        with torch.inference_mode(False), torch.no_grad():
            vectors: Tensor = self.embedding(ids.clamp_min(0)[None])[0]
        return vectors * (ids >= 0)[:, None]

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


class _Path:
    """Where each row stands between its baseline and its text, and the way back from pieces to words."""

    def __init__(self, batch: Sequence[Point], baseline: Tensor) -> None:
        self.batch, self.baseline = batch, baseline
        self.device = baseline.device
        self.row = self._tensor(np.repeat(np.arange(len(batch)), [len(p.pieces.piece) for p in batch]))
        self.piece = self._tensor(np.concatenate([p.pieces.piece for p in batch]))
        self.word = self._tensor(np.concatenate([p.pieces.word for p in batch]))
        self.share = self._tensor(np.concatenate([p.pieces.share for p in batch]))

    def place(self, embedded: Tensor) -> Tensor:
        """The embeddings of the explained words, moved towards the baseline; a new leaf for autograd."""
        start = embedded.detach().clone()
        start[self.row, self.piece] = self.baseline.to(start.dtype)
        at = self._tensor(np.array([point.row.at for point in self.batch])).to(start.dtype)[:, None, None]
        self.way = embedded.detach() - start
        point = torch.where(at == 1, embedded.detach(), start + at * self.way)
        self.point = (point + self._noise(embedded.detach())).requires_grad_() if self.noisy else point.requires_grad_()
        return self.point

    @property
    def noisy(self) -> bool:
        return any(point.row.noise for point in self.batch)

    def _noise(self, embedded: Tensor) -> Tensor:
        """Drawn for each row by itself, on the CPU: the same in any company and on any device."""
        draws = torch.zeros(embedded.shape)
        for i, point in enumerate(self.batch):
            if point.row.noise:
                own = np.unique(point.pieces.piece)
                chance = torch.Generator().manual_seed(point.row.noise.seed)
                draws[i, own] = point.row.noise.share * torch.randn(len(own), embedded.shape[2], generator=chance)
        return draws.to(embedded) * self._range(embedded)[:, None, None]

    def _range(self, embedded: Tensor) -> Tensor:
        """How far the embedding values of each row's explained pieces lie apart."""
        values, empty = embedded[self.row, self.piece], embedded.new_zeros(len(self.batch))
        highest = empty.scatter_reduce(0, self.row, values.amax(-1), "amax", include_self=False)
        return highest - empty.scatter_reduce(0, self.row, values.amin(-1), "amin", include_self=False)

    def per_word(self, gradient: Tensor) -> Tensor:
        """Reduce over the embedding dimensions, then over the pieces of each word."""
        words = max(len(point.row.text) for point in self.batch)
        result = gradient.new_zeros(len(self.batch), words)
        kinds = [point.row.reduce for point in self.batch]
        for kind in set(kinds):
            mine = self._tensor(np.array([k == kind for k in kinds]))[:, None]
            result = torch.where(mine, self._reduced(kind, gradient, result), result)
        return result

    def _reduced(self, kind: Reduce, gradient: Tensor, zeros: Tensor) -> Tensor:
        at = (self.row, self.word)
        match kind:
            case "dot":
                return zeros.index_put(at, self._of((gradient * self.way).sum(-1)), accumulate=True)
            case "l1":
                return zeros.index_put(at, self._of(gradient.abs().sum(-1)), accumulate=True)
            case "l2":
                return zeros.index_put(at, self._of(gradient.square().sum(-1)), accumulate=True).sqrt()
            case "linf":
                flat = self.row * zeros.shape[1] + self.word
                largest = gradient.abs().amax(-1)[self.row, self.piece]
                return zeros.flatten().scatter_reduce(0, flat, largest, "amax").view_as(zeros)

    def _of(self, numbers: Tensor) -> Tensor:
        """The numbers of the explained words' pieces, shared where a piece belongs to several words."""
        return numbers[self.row, self.piece] * self.share.to(numbers.dtype)

    def _tensor(self, array: Any) -> Tensor:
        return to_device(array, self.device)


def _rows(values: Tensor, scores: Tensor, words: list[int]) -> list[Floats]:
    """For each row its explained value, then its words' scores."""
    table = torch.cat([values[:, None], scores], dim=1).double().cpu().numpy()
    return [row[: n + 1] for row, n in zip(table, words, strict=True)]


def _vectors(point: Point, gradient: Tensor) -> PieceGradient:
    own = gradient[: len(point)].float().cpu().numpy()
    return PieceGradient(own, Inside(len(point.row.text), point.pieces).owners)


def _relevances(batch: Sequence[Point], table: Floats) -> Iterator[Floats]:
    """For each row the value, what each taker got (the pieces of no explained word last), and its words' relevance."""
    for point, row in zip(batch, table, strict=True):
        booked, pieces = row[:_BOOKED], row[_BOOKED:]
        words = Inside(len(point.row.text), point.pieces).owners.per_word(pieces[: len(point.pieces)])
        yield np.concatenate([booked, [pieces.sum() - words.sum()], words])


def _labels(config: Any) -> tuple[str, ...]:
    names = [str(config.id2label.get(i, i)) for i in range(config.num_labels)]
    return tuple(names) if len(names) > 1 else (f"not {names[0]}", names[0])
