"""Attentive models as the engine sees them: classifiers whose attention can be read, replaced and attacked.

As another model, `@cut_attention`, it lets no gradient flow through the attention, as Algorithm 1 of Jain and Wallace
cuts the graph there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.models.own.attentive.network import Read
from assay.models.transformers.adapter import HuggingFace, Inside
from assay.models.transformers.handlers.adversary import attack
from assay.models.transformers.placing import Placing
from assay.models.transformers.tasks.classifier import Classifier
from assay.models.transformers.twin import twin
from assay.questions.answers import Adversaries, AttentionMaps, Predictions
from assay.questions.base import Question
from assay.questions.inside import Attention, Hidden, Relevance
from assay.questions.interventions import Adversary, AdversaryRow, Intervene, InterveneRow
from assay.statistics.arrays import Floats

CUT = "cut_attention"


@dataclass(frozen=True)
class Watched(Inside):
    """A text of which the attention is wanted, or changed."""

    row: InterveneRow | AdversaryRow | None = None


class Attentive(Classifier):
    """Answers, besides, with its attention, with what it would say under another one, and with adversarial ones."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        fields = ("paragraph", "question") if model.config.pair else ("text",)
        super().__init__(model, tokenizer, **{"fields": fields, **settings})
        if model.config.pair and len(self.fields) != 2:
            self.fields = fields
        # The question asks; attention is over the other text, and so are explanations, as in the papers.
        self.focus = self.fields[:1] if model.config.pair else None
        more: set[type[Question]] = {Intervene, Adversary, Attention}
        self.answers = (self.answers | more) - {Hidden, Relevance}

    def derived(self, spec: str) -> HuggingFace:
        if spec != CUT:
            return super().derived(spec)
        model = twin(self.model)
        model.cut = True
        return self._with(model, f"{self.name}@{spec}")

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        if kind is Attention:
            return [Watched(len(text), self.pieces(text)) for text in rows]
        if kind in (Intervene, Adversary):
            return [Watched(len(row.text), self.pieces(row.text), row=row) for row in rows]
        return super().encode(kind, rows)

    def answer(self, kind: type[Question], batch: Sequence[Any]) -> Any:
        if kind not in (Attention, Intervene, Adversary):
            return super().answer(kind, batch)
        with torch.no_grad():
            read = self.read(batch)
            if kind is Attention:
                return batch, read.own
            return self._intervened(batch, read) if kind is Intervene else self._attacked(batch, read)

    def collect(self, kind: type[Question], outputs: Sequence[Any]) -> list[Any]:
        if kind is Attention:
            return [_map(row, own) for batch, table in outputs for row, own in zip(batch, table, strict=True)]
        if kind in (Intervene, Adversary):
            return [answer for output in outputs for answer in output]
        return super().collect(kind, outputs)

    def read(self, batch: Sequence[Watched]) -> Read:
        """The texts after the encoder."""
        inputs = self.inputs([row.pieces.ids for row in batch], [row.pieces.types for row in batch])
        read: Read = self.model.read(inputs["input_ids"], inputs["attention_mask"], inputs.get("token_type_ids"))
        return read

    def _intervened(self, batch: Sequence[Watched], read: Read) -> list[Floats]:
        tables = [row.row.table for row in batch if isinstance(row.row, InterveneRow)]
        used = np.zeros((len(batch), max(map(len, tables)), read.own.shape[1]))
        for i, (way, table) in enumerate(zip(self._ways(batch, read), tables, strict=True)):
            used[i, : len(table)] = way.pieces(table)
        logits = self.model.decide(read, torch.tensor(used).to(read.own)).double().cpu().numpy()
        return [own[: len(table)] for own, table in zip(logits, tables, strict=True)]

    def _ways(self, batch: Sequence[Watched], read: Read) -> list[Placing]:
        own, mask = read.own.double().cpu().numpy(), read.mask.cpu().numpy()
        return [Placing.of(row, *told) for row, *told in zip(batch, own, mask, strict=True)]

    def _attacked(self, batch: Sequence[Watched], read: Read) -> list[Adversaries]:
        """Rows of one search together."""
        rows = [row.row for row in batch if isinstance(row.row, AdversaryRow)]
        ways, found = self._ways(batch, read), dict[int, Adversaries]()
        for search in {row.search for row in rows}:
            mine = [i for i, row in enumerate(rows) if row.search == search]
            field = Field.of(_some(read, mine), [ways[i] for i in mine], [rows[i] for i in mine])
            with torch.inference_mode(False), torch.enable_grad():
                others = attack(partial(self._chances, field), field.own, field.open, search, field.seeds)
            weights = torch.cat([field.own[:, None], others], dim=1)
            logits = self.model.decide(field.read, field.pieces(weights)).double().cpu().numpy()
            for i, table, said in zip(mine, weights.double().cpu().numpy(), logits, strict=True):
                found[i] = Adversaries(table[:, : batch[i].words], Predictions(said, self.multi_label))
        return [found[i] for i in range(len(batch))]

    def _chances(self, field: Field, weights: Tensor) -> Tensor:
        logits: Tensor = self.model.decide(field.read, field.pieces(weights))
        return logits.sigmoid() if self.multi_label else logits.softmax(dim=-1)


@dataclass(frozen=True)
class Field:
    """Where a search takes place: texts after the encoder, and the way from their words to their pieces."""

    read: Read
    stays: Tensor  # [n, length]
    spread: Tensor  # [n, words, length]
    own: Tensor  # [n, words], the attention to get away from
    open: Tensor  # [n, words]
    seeds: list[int]

    @classmethod
    def of(cls, read: Read, ways: Sequence[Placing], rows: Sequence[AdversaryRow]) -> Field:
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


def _some(read: Read, chosen: Sequence[int]) -> Read:
    """Some of the texts, as tensors that gradients may be taken around."""
    at = list(chosen)
    return Read(
        read.values[at].detach().clone(),
        read.own[at].detach().clone(),
        read.mask[at],
        None if read.question is None else read.question[at].detach().clone(),
        None if read.never is None else read.never[at],
    )


def _map(row: Watched, own: Tensor) -> AttentionMaps:
    """One layer, one head, and only one that looks: the answer."""
    weights = own[: len(row.pieces)].float().cpu().numpy()
    return AttentionMaps(weights[None, None, None], row.owners, 0)
