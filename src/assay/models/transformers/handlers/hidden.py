"""Hidden: the states of chosen layers, whole or pooled; what is not wanted never leaves the device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.errors import AssayError, BadInput, Unanswerable
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.handlers.attention import inputs_of, inside
from assay.models.transformers.inside import Inside
from assay.models.transformers.tasks.base import result_or_error
from assay.questions.answers import HiddenStates, PieceWords
from assay.questions.inside import HiddenRow


@dataclass(frozen=True)
class Looked:
    """A text to look into, which layers are wanted, and how pieces are averaged [units, pieces]; None as they are."""

    inside: Inside
    layers: tuple[int, ...] | None
    averages: np.ndarray[Any, np.dtype[np.float32]] | None

    def __len__(self) -> int:
        return len(self.inside)

    def of(self, states: Sequence[Tensor], i: int) -> Tensor:
        """The wanted states of row i of a batch, without its padding [layers, units, size]."""
        chosen = range(len(states)) if self.layers is None else self.layers
        wrong = [layer for layer in chosen if not -len(states) <= layer < len(states)]
        if wrong:
            raise BadInput(f"the states are 0 (the embedding) to {len(states) - 1}; there is no layer {wrong[0]}.")
        found = torch.stack([states[layer][i, : len(self)] for layer in chosen]).float()
        return found if self.averages is None else torch.as_tensor(self.averages, device=found.device) @ found


class HiddenHandler(Handler[HuggingFace]):
    """States of the module that reads the text: the model, or the encoder of an encoder-decoder."""

    def encode(self, model: HuggingFace, rows: Sequence[HiddenRow]) -> list[Looked | AssayError]:
        return [result_or_error(_looked, model, row) for row in rows]

    def answer(self, model: HuggingFace, batch: Sequence[Looked]) -> Any:
        inputs = inputs_of(model, [row.inside for row in batch])
        with torch.no_grad(), model.network.hooks_as_before():
            states = model.task.body(**inputs, output_hidden_states=True).hidden_states
            return batch, [result_or_error(row.of, states, i) for i, row in enumerate(batch)]

    def collect(self, model: HuggingFace, outputs: Sequence[Any]) -> list[Any]:
        return [_answer(row, found) for batch, states in outputs for row, found in zip(batch, states, strict=True)]


def _looked(model: HuggingFace, row: HiddenRow) -> Looked:
    looked = inside(model, row.text)
    return Looked(looked, row.layers, _averages(model, row, looked))


def _answer(row: Looked, states: Tensor | AssayError) -> Any:
    if isinstance(states, AssayError):
        return states
    found = states.cpu().numpy()
    return HiddenStates(found, row.inside.owners) if row.averages is None else found


def _averages(model: HuggingFace, row: HiddenRow, looked: Inside) -> np.ndarray[Any, np.dtype[np.float32]] | None:
    """How much each piece counts for each unit of the answer; every unit that has a piece adds up to 1."""
    if row.pool == "pieces":
        return None
    if row.pool in ("words", "first"):
        owned = _owned(looked.owners, first=row.pool == "first")[_places(row, looked)]
    elif row.pool == "text":
        owned = _owned(looked.owners, first=False).sum(axis=0, keepdims=True)
    else:
        owned = np.zeros((1, len(looked)))
        owned[0, list(_answered_at(model, looked) if row.pool == "answer" else (0,))] = 1
    total = owned.sum(axis=1, keepdims=True)
    return (owned / np.where(total > 0, total, 1)).astype(np.float32)


def _owned(owners: PieceWords, first: bool) -> np.ndarray[Any, np.dtype[np.float64]]:
    """How much of each piece a word owns [words, pieces]; only its first piece, if that is wanted."""
    owned = np.zeros((owners.words, owners.pieces))
    owned[owners.word, owners.piece] = owners.share
    if first:
        owned *= (np.cumsum(owned > 0, axis=1) == 1) & (owned > 0)
    return owned


def _places(row: HiddenRow, looked: Inside) -> list[int]:
    wanted = list(range(looked.words)) if row.places is None else list(row.places)
    wrong = [place for place in wanted if not 0 <= place < looked.words]
    if wrong:
        raise BadInput(f"the text has {looked.words} words, counted from 0; there is no word {wrong[0]}.")
    return wanted


def _answered_at(model: HuggingFace, looked: Inside) -> tuple[int, ...]:
    if looked.readers is None:
        raise Unanswerable(
            f"nobody knows from which piece the model {model.name} reads its answer; pool by 'cls' or by 'text'."
        )
    return looked.readers
