"""How attentive models answer questions about their one attention: it can be read, replaced and attacked.

A text is encoded once: all that the answer depends on but the attention. For other weights only a small weighted sum is
computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.models.base import Handler
from assay.models.own.attentive.network import EncodedTexts
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.handlers.adversary import attack
from assay.models.transformers.handlers.attention import inputs_of
from assay.models.transformers.inside import Inside
from assay.models.transformers.placing import Placing
from assay.questions.answers import Adversaries, AttentionMaps, Predictions
from assay.questions.interventions import AdversaryRow, InterveneRow, Search
from assay.statistics.arrays import Floats
from assay.text.text import Text


class OneAttentionHandler(Handler[HuggingFace]):
    """Attention: one layer, one head, and only one piece that looks, the answer."""

    def encode(self, model: HuggingFace, rows: Sequence[Text]) -> list[Inside]:
        return [Inside(len(text), model.task.pieces(text)) for text in rows]

    def answer(self, model: HuggingFace, batch: Sequence[Inside]) -> Any:
        with torch.no_grad():
            return batch, _read(model, batch).own

    def collect(self, model: HuggingFace, outputs: Sequence[Any]) -> list[AttentionMaps]:
        return [_map(row, own) for batch, table in outputs for row, own in zip(batch, table, strict=True)]


@dataclass(frozen=True)
class Reweighted(Inside):
    """A text whose attention is changed."""

    row: InterveneRow | AdversaryRow | None = None


class OneInterventionHandler(Handler[HuggingFace]):
    """Intervene: the answers under other weights."""

    def encode(self, model: HuggingFace, rows: Sequence[InterveneRow | AdversaryRow]) -> list[Reweighted]:
        return [Reweighted(len(row.text), model.task.pieces(row.text), row=row) for row in rows]

    def answer(self, model: HuggingFace, batch: Sequence[Reweighted]) -> list[Any]:
        with torch.no_grad():
            read = _read(model, batch)
            tables = [row.row.table for row in batch if isinstance(row.row, InterveneRow)]
            used = np.zeros((len(batch), max(map(len, tables)), read.own.shape[1]))
            for i, (way, table) in enumerate(zip(_ways(batch, read), tables, strict=True)):
                used[i, : len(table)] = way.pieces(table)
            logits = model.model.decide(read, torch.tensor(used).to(read.own)).double().cpu().numpy()
        return [own[: len(table)] for own, table in zip(logits, tables, strict=True)]


class OneAdversaryHandler(OneInterventionHandler):
    """Adversary: weights far from the model's own under which it answers the same."""

    def answer(self, model: HuggingFace, batch: Sequence[Reweighted]) -> list[Any]:
        """Rows of one search together."""
        rows = [row.row for row in batch if isinstance(row.row, AdversaryRow)]
        found: dict[int, Adversaries] = {}
        with torch.no_grad():
            read = _read(model, batch)
            ways = _ways(batch, read)
            for search in {row.search for row in rows}:
                mine = [i for i, row in enumerate(rows) if row.search == search]
                space = SearchSpace.of(_some(read, mine), [ways[i] for i in mine], [rows[i] for i in mine])
                weights, logits = _attacked(model, space, search)
                for i, table, own in zip(mine, weights, logits, strict=True):
                    found[i] = Adversaries(table[:, : batch[i].words], Predictions(own, model.multi_label))
        return [found[i] for i in range(len(batch))]


def _read(model: HuggingFace, batch: Sequence[Inside]) -> EncodedTexts:
    """The texts after the encoder."""
    inputs = inputs_of(model, batch)
    read: EncodedTexts = model.model.read(inputs["input_ids"], inputs["attention_mask"], inputs.get("token_type_ids"))
    return read


def _ways(batch: Sequence[Inside], read: EncodedTexts) -> list[Placing]:
    own, mask = read.own.double().cpu().numpy(), read.mask.cpu().numpy()
    return [Placing.of(row, *attention) for row, *attention in zip(batch, own, mask, strict=True)]


def _attacked(model: HuggingFace, space: SearchSpace, search: Search) -> tuple[Floats, Floats]:
    """The weights to get away from and the adversarial ones [n, 1 + k, words], and the logits under each."""

    def chances(weights: Tensor) -> Tensor:
        logits: Tensor = model.model.decide(space.read, space.pieces(weights))
        return logits.sigmoid() if model.multi_label else logits.softmax(dim=-1)

    with torch.inference_mode(False), torch.enable_grad():
        others = attack(chances, space.own, space.open, search, space.seeds)
    weights = torch.cat([space.own[:, None], others], dim=1)
    logits = model.model.decide(space.read, space.pieces(weights)).double().cpu().numpy()
    return weights.double().cpu().numpy(), logits


@dataclass(frozen=True)
class SearchSpace:
    """Where a search takes place: texts after the encoder, and the way from their words to their pieces."""

    read: EncodedTexts
    stays: Tensor  # [n, length]
    spread: Tensor  # [n, words, length]
    own: Tensor  # [n, words], the attention to get away from
    open: Tensor  # [n, words]
    seeds: list[int]

    @classmethod
    def of(cls, read: EncodedTexts, ways: Sequence[Placing], rows: Sequence[AdversaryRow]) -> SearchSpace:
        words, length = max(len(way.own) for way in ways), read.own.shape[1]
        spread, own, opened = np.zeros((len(ways), words, length)), np.zeros((len(ways), words)), []
        for i, (way, row) in enumerate(zip(ways, rows, strict=True)):
            spread[i, : len(way.own)] = way.spread
            own[i, : len(way.own)] = way.shares(row.table) if row.weights else way.own
            opened.append(np.pad(way.open, (0, words - len(way.own))))
        like = read.own
        return cls(
            read,
            torch.tensor(np.stack([way.stays for way in ways])).to(like),
            torch.tensor(spread).to(like),
            torch.tensor(own).to(like),
            torch.tensor(np.stack(opened)).to(like.device),
            [row.seed for row in rows],
        )

    def pieces(self, weights: Tensor) -> Tensor:
        """Attention over words [n, k, words] as attention over pieces."""
        return self.stays[:, None] + weights @ self.spread


def _some(read: EncodedTexts, chosen: Sequence[int]) -> EncodedTexts:
    """Some of the texts, as tensors that gradients may be taken around."""
    at = list(chosen)
    return EncodedTexts(
        read.values[at].detach().clone(),
        read.own[at].detach().clone(),
        read.mask[at],
        None if read.question is None else read.question[at].detach().clone(),
        None if read.never is None else read.never[at],
    )


def _map(row: Inside, own: Tensor) -> AttentionMaps:
    """One layer, one head, and only one that looks: the answer."""
    weights = own[: len(row.pieces)].float().cpu().numpy()
    return AttentionMaps(weights[None, None, None], row.owners, 0)
