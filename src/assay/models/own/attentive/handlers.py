"""How attentive models answer questions about their one attention: it can be read, replaced and attacked.

A text is encoded once: all that the answer depends on but the attention. For other weights only a small weighted sum is
computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.models.base import Handler
from assay.models.own.attentive.network import EncodedTexts
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.handlers.attention import inputs_of
from assay.models.transformers.handlers.spread import HeadSpread, Reweighted, adversaries, wanted
from assay.models.transformers.inside import Inside
from assay.models.transformers.placing import Placing
from assay.questions.answers import Adversaries, AttentionMaps
from assay.questions.interventions import AdversaryRow, InterveneAttentionRow
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


class OneInterventionHandler(Handler[HuggingFace]):
    """InterveneAttention: the answers under other weights."""

    def encode(self, model: HuggingFace, rows: Sequence[InterveneAttentionRow | AdversaryRow]) -> list[Reweighted]:
        return [Reweighted(len(row.text), model.task.pieces(row.text), **wanted(row)) for row in rows]

    def answer(self, model: HuggingFace, batch: Sequence[Reweighted]) -> list[Any]:
        with torch.no_grad():
            read = _read(model, batch)
            tables = [row.given for row in batch]
            used = np.zeros((len(batch), max(map(len, tables)), read.own.shape[1]))
            attentions = zip(batch, read.own.double().cpu().numpy(), read.mask.cpu().numpy(), tables, strict=True)
            for i, (row, own, mask, table) in enumerate(attentions):
                used[i, : len(table)] = Placing.of(row, own, mask).pieces(table)
            logits = model.network.model.decide(read, torch.tensor(used).to(read.own)).double().cpu().numpy()
        return [own[: len(table)] for own, table in zip(logits, tables, strict=True)]


class OneAdversaryHandler(OneInterventionHandler):
    """Adversary: weights far from the model's own under which it answers the same."""

    def answer(self, model: HuggingFace, batch: Sequence[Reweighted]) -> list[Any]:
        """Rows of one search together."""
        found: dict[int, Adversaries] = {}
        with torch.no_grad():
            read = _read(model, batch)
            for search in {row.search for row in batch}:
                mine = [i for i, row in enumerate(batch) if row.search == search]
                found |= zip(mine, _adversaries(model, _some(read, mine), [batch[i] for i in mine]), strict=True)
        return [found[i] for i in range(len(batch))]


def _adversaries(model: HuggingFace, read: EncodedTexts, rows: Sequence[Reweighted]) -> list[Adversaries]:
    spread = HeadSpread.of(read.own[:, None], read.mask.cpu().numpy(), rows, [0])
    decide = model.network.model.decide
    return adversaries(lambda attention: decide(read, attention[:, :, 0]), spread, rows, model.multi_label)


def _read(model: HuggingFace, batch: Sequence[Inside]) -> EncodedTexts:
    """The texts after the encoder."""
    inputs = inputs_of(model, batch)
    read: EncodedTexts = model.network.model.read(
        inputs["input_ids"], inputs["attention_mask"], inputs.get("token_type_ids")
    )
    return read


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
    return AttentionMaps(weights[None, None, None], row.owners, (0,))
