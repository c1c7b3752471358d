"""Hugging Face sequence classifiers, for one text and for pairs: Predict and InputGradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from assay.ask import Floats, GradientRow, InputGradient, Predict, Question, Reduce, Symbol
from assay.errors import ModelNotLoaded
from assay.models.hugging_face import HuggingFace
from assay.models.pieces import Encoded, Pieces
from assay.models.scalars import explained


@dataclass(frozen=True)
class Point:
    """A gradient row with the pieces of its text."""

    row: GradientRow
    pieces: Pieces

    def __len__(self) -> int:
        return len(self.pieces)


class Classifier(HuggingFace):
    """Answers with logits [n, labels]; one single logit becomes two labels, as in a pipeline."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        super().__init__(model, tokenizer, **settings)
        config = model.config
        if getattr(config, "problem_type", None) == "regression":
            raise ModelNotLoaded(f"{self.name} is a regression model; Assay explains models that choose among labels.")
        several = getattr(config, "problem_type", None) == "multi_label_classification"
        self.multi_label = several and config.num_labels > 1
        self.labels = _labels(config)
        self.answers |= {Predict, InputGradient} if self._has_gradients() else {Predict}
        # Without a padding token, decoders cannot tell where a shorter row of a batch ends.
        self.most_rows = 1 if getattr(config, "pad_token_id", None) is None else None

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        if kind is Predict:
            return self.encoder.rows(rows)
        if kind is not InputGradient:
            return super().encode(kind, rows)
        pieces = {text: self.pieces(text) for text in {row.text for row in rows}}
        return [Point(row, pieces[row.text]) for row in rows]

    def lengths(self, encoded: Sequence[Any]) -> Sequence[int]:
        return [len(row[0]) if isinstance(row, tuple) else len(row) for row in encoded]

    def answer(self, kind: type[Question], batch: Sequence[Any]) -> Any:
        if kind is Predict:
            with torch.no_grad():
                return self._logits(batch)
        return self._gradients(batch) if kind is InputGradient else super().answer(kind, batch)

    def collect(self, kind: type[Question], outputs: Sequence[Any]) -> list[Any]:
        if not outputs:
            return []
        if kind is Predict:
            return list(torch.cat(list(outputs)).double().cpu().numpy())
        if kind is not InputGradient:
            return super().collect(kind, outputs)
        return [row for output in outputs for row in _rows(*output)]

    def _row(self, point: Point) -> Any:
        """A point on the way as `_logits` takes it."""
        return point.pieces.ids, point.pieces.types

    def _has_gradients(self) -> bool:
        return self.encoder.has_offsets and isinstance(self.model.get_input_embeddings(), nn.Module)

    def _logits(self, batch: Sequence[Encoded]) -> Tensor:
        logits: Tensor = self.model(**self.inputs([ids for ids, _ in batch], [types for _, types in batch])).logits
        return torch.cat([-logits, logits], dim=1) / 2 if logits.shape[1] == 1 else logits

    def _gradients(self, batch: Sequence[Point]) -> tuple[Tensor, Tensor, list[int]]:
        """Explained values [n], one number per word [n, words], and how many words each row has."""
        path = _Path(batch, torch.stack([self._baseline(point.row.baseline) for point in batch]))
        with torch.inference_mode(False), torch.enable_grad(), self.embeddings(path.place):
            logits = self._logits([self._row(point) for point in batch])
            values = explained(logits, [point.row.aim for point in batch], self.multi_label)
            (gradient,) = torch.autograd.grad(values.sum(), path.point)
        return values.detach(), path.per_word(gradient), [len(point.row.text) for point in batch]

    def _baseline(self, name: str | None) -> Tensor:
        weight: Tensor = self.model.get_input_embeddings().weight
        return torch.zeros_like(weight[0]) if name in (None, "zero") else self.vector(Symbol(name))


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
        start[self.row, self.piece] = self.baseline[self.row].to(start.dtype)
        at = self._tensor(np.array([point.row.at for point in self.batch])).to(start.dtype)[:, None, None]
        self.way = embedded.detach() - start
        self.point = torch.where(at == 1, embedded.detach(), start + at * self.way).requires_grad_()
        return self.point

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
        return torch.from_numpy(array).to(self.device)


def _rows(values: Tensor, scores: Tensor, words: list[int]) -> list[Floats]:
    """For each row its explained value, then its words' scores."""
    table = torch.cat([values[:, None], scores], dim=1).double().cpu().numpy()
    return [row[: n + 1] for row, n in zip(table, words, strict=True)]


def _labels(config: Any) -> tuple[str, ...]:
    names = [str(config.id2label.get(i, i)) for i in range(config.num_labels)]
    return tuple(names) if len(names) > 1 else (f"not {names[0]}", names[0])
