"""Reading an attentive model: what it says of texts and where it looks, or what it would say under given weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.errors import BadInput
from assay.models import TextModel
from assay.models.own.attentive import AttentiveForSequenceClassification
from assay.models.transformers.adapter import HuggingFace
from assay.registry.sample_task import ExplainedModel
from assay.statistics.arrays import Floats
from assay.text.text import Row
from assay.training.attentive import Attend
from assay.training.batches import Rows, rows_of
from assay.training.digests import digest
from assay.training.observed import Observed
from assay.training.recipes import Recipe, recipe

_LONGEST = 100_000
_TOKENS = 16_384  # padded tokens that are read at once


def attentive_recipe(given: str | Recipe, model: ExplainedModel | None) -> Attend:
    """The recipe of a check of attention; where a model is given, of models with its encoder, attention and size."""
    how = recipe(given)
    if not isinstance(how, Attend):
        raise BadInput(f"attention is tested on attentive models; {given!r:.60} makes others.")
    if how.attention == "uniform":
        raise BadInput("uniform attention is never learned, so there is nothing to test; use additive or dot.")
    if model is None:
        return how
    config = attentive(model).model.config
    if config.attention == "uniform":
        raise BadInput("the base has uniform attention, which is never learned; test one with additive or dot.")
    return replace(how, encoder=config.encoder, attention=config.attention, hidden=config.hidden_size)


def observed(model: TextModel, texts: Sequence[str | Row], weights: Sequence[Floats] | None = None) -> Observed:
    """What the model says, and its attention; under these weights, where they are given."""
    known = attentive(model)
    rows = encoded(texts, known.tokenizer)
    if weights is not None:
        Observed((), np.empty(0), tuple(weights)).require_tokens(token_counts(rows))
    chances: dict[int, Floats] = {}
    used: dict[int, Floats] = {}
    for chosen in chunks(token_counts(rows)):
        found, table = _read(known.model, rows, chosen, weights)
        for i, row, own in zip(chosen, found, table, strict=True):
            chances[i], used[i] = row, own[: len(rows.encoded[i]["input_ids"])]
    every = range(len(rows.encoded))
    whole = tuple(used[i] for i in every) if weights is None else tuple(weights)
    read = tuple(rows_of(texts, [""] * len(texts)))
    return Observed(known.labels, np.stack([chances[i] for i in every]), whole, _source(known, texts), read)


def attentive(model: ExplainedModel) -> HuggingFace:
    if not isinstance(model, HuggingFace) or not isinstance(model.model, AttentiveForSequenceClassification):
        raise BadInput(
            f"{model.name} is no attentive model, so its attention cannot be taken out; make one with "
            "assay.training.attentive.attend."
        )
    return model


def _read(network: Any, rows: Rows, chosen: Sequence[int], weights: Sequence[Floats] | None) -> tuple[Floats, Floats]:
    """Probabilities and weights of these texts, in double precision; weights sum to one."""
    inputs, _ = rows.batch(chosen, network.device)
    given = {} if weights is None else {"attention_weights": padded(weights, chosen, network.device)}
    with torch.no_grad():
        output = network(**inputs, **given, output_attentions=True)
    own = output.attentions[0].double()
    own = own / own.sum(dim=1, keepdim=True).clamp_min(torch.finfo(torch.float64).tiny)
    return output.logits.double().softmax(dim=-1).cpu().numpy(), own.cpu().numpy()


def padded(weights: Sequence[Floats], chosen: Sequence[int], device: Any) -> Tensor:
    """The weights of these texts, with zeros up to the longest [texts, length]."""
    table = np.zeros((len(chosen), max(len(weights[i]) for i in chosen)), dtype=np.float32)
    for place, i in enumerate(chosen):
        table[place, : len(weights[i])] = weights[i]
    return torch.tensor(table, device=device)


def encoded(texts: Sequence[str | Row], tokenizer: Any) -> Rows:
    """Texts without labels as token ids."""
    blank = [""] * len(texts)
    return Rows.of(rows_of(texts, blank), [0] * len(texts), tokenizer, _LONGEST)


def token_counts(rows: Rows) -> list[int]:
    """How many tokens each text has."""
    return [len(one["input_ids"]) for one in rows.encoded]


def chunks(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Texts of about one length together, as many as fit."""
    chunk: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if chunk and lengths[i] * (len(chunk) + 1) > _TOKENS:
            yield chunk
            chunk = []
        chunk.append(i)
    yield chunk


def _source(model: HuggingFace, texts: Sequence[str | Row]) -> str:
    """A digest of weights, vocabulary and texts, the same for a model just trained and loaded again."""
    weights = blake2b(model.tokenizer.backend_tokenizer.to_str().encode(), digest_size=16)
    for name, tensor in sorted(model.model.state_dict().items()):
        weights.update(name.encode() + tensor.detach().float().cpu().contiguous().numpy().tobytes())
    return digest(weights.hexdigest(), rows_of(texts, [""] * len(texts)))
