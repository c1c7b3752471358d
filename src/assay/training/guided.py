"""Training an attentive model under the attention of another one: imposed on it, or to get away from.

    guided       given weights stand in the place of the attention, text by text, in training and in testing
    opposed      minimise  sum_i TVD(y_i, y'_i) - lambda sum_i KL(a_i || a'_i)

with y', a' of a base model. Wiegreffe and Pinter (2019), arXiv:1908.04626, sections 3.4 and 4. The loss is summed over
a batch, not averaged: only so lambda means what it means there. Gold labels are no part of it. The released code
multiplies the loss of a batch by the summed costs of its gold labels (variant="released").
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from assay.errors import BadInput
from assay.models import TextModel, load
from assay.models.own.attentive import AttentiveForSequenceClassification
from assay.models.transformers.adapter import HuggingFace
from assay.statistics.arrays import Floats
from assay.text.text import Row
from assay.training.attentive import Attend, Prepared, digest, prepared, rows_of, scored
from assay.training.batches import Rows
from assay.training.fit import Plan, fit
from assay.training.observed import Observed
from assay.training.place import Place, device

_LONGEST = 100_000
_TOKENS = 16_384  # padded tokens that are read at once
Choose = Literal["train", "dev", "test"]
Variant = Literal["paper", "released"]
Labelled = tuple[Sequence[str | Row], Sequence[str]]


# Reading


def observed(model: TextModel, texts: Sequence[str | Row], weights: Sequence[Floats] | None = None) -> Observed:
    """What the model says, and its attention; under these weights, where they are given."""
    known = attentive(model)
    rows = _rows(texts, known.tokenizer)
    if weights is not None:
        Observed((), np.empty(0), tuple(weights)).require_tokens(_lengths(rows))
    said: dict[int, Floats] = {}
    used: dict[int, Floats] = {}
    for chosen in _chunks(_lengths(rows)):
        chances, table = _read(known.model, rows, chosen, weights)
        for i, row, own in zip(chosen, chances, table, strict=True):
            said[i], used[i] = row, own[: len(rows.encoded[i]["input_ids"])]
    every = range(len(rows.encoded))
    whole = tuple(used[i] for i in every) if weights is None else tuple(weights)
    return Observed(known.labels, np.stack([said[i] for i in every]), whole, _source(known, texts))


def attentive(model: TextModel) -> HuggingFace:
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
        told = network(**inputs, **given, output_attentions=True)
    own = told.attentions[0].double()
    own = own / own.sum(dim=1, keepdim=True).clamp_min(torch.finfo(torch.float64).tiny)
    return told.logits.double().softmax(dim=-1).cpu().numpy(), own.cpu().numpy()


def padded(weights: Sequence[Floats], chosen: Sequence[int], device: Any) -> Tensor:
    """The weights of these texts, with zeros up to the longest [texts, length]."""
    table = np.zeros((len(chosen), max(len(weights[i]) for i in chosen)), dtype=np.float32)
    for place, i in enumerate(chosen):
        table[place, : len(weights[i])] = weights[i]
    return torch.tensor(table, device=device)


def _rows(texts: Sequence[str | Row], tokenizer: Any) -> Rows:
    blank = [""] * len(texts)
    return Rows.of(rows_of(texts, blank), [0] * len(texts), tokenizer, _LONGEST)


def _lengths(rows: Rows) -> list[int]:
    return [len(one["input_ids"]) for one in rows.encoded]


def _chunks(lengths: Sequence[int]) -> Iterator[list[int]]:
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
    told = blake2b(model.tokenizer.backend_tokenizer.to_str().encode(), digest_size=16)
    for name, tensor in sorted(model.model.state_dict().items()):
        told.update(name.encode() + tensor.detach().float().cpu().contiguous().numpy().tobytes())
    return digest(told.hexdigest(), rows_of(texts, [""] * len(texts)))


# Guided by given weights


def guide(
    train: Labelled,
    guides: Observed,
    *,
    how: Attend | None = None,
    dev: Labelled | None = None,
    dev_guides: Observed | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
) -> TextModel:
    """A model that never looks by itself: ask it by `observed(model, texts, weights)`.

    As it has no attention of its own, its weights are uniform where none are given.
    """
    how = replace(how or Attend(encoder="average"), attention="uniform")
    if (dev is None) != (dev_guides is None):
        raise BadInput("the texts of dev need a guide too: give dev and dev_guides, or neither.")
    ready = _prepared(how, train, guides)

    def loss(chosen: list[int]) -> Tensor:
        return ready.loss(chosen, attention_weights=padded(guides.weights, chosen, ready.network.device))

    score = _guided_score(ready, dev, dev_guides) if dev and dev_guides else None
    told = {"guide": guides.source, "dev guide": dev_guides.source if dev_guides else None}
    return _trained(_Work(ready, how, digest(train, dev), told), loss, score, out, progress)


def _guided_score(ready: Prepared, dev: Labelled, guides: Observed) -> Callable[[], float]:
    def score() -> float:
        model = load((ready.network, ready.rows.tokenizer))
        return scored(observed(model, dev[0], guides.weights).chances, dev[1], model.labels)

    return score


# Away from a base model


@dataclass(frozen=True, eq=False)
class Opposed:
    """The loss of a network against a base model on some texts; `costs` are those of the released code."""

    network: Any
    rows: Rows
    base: Observed
    chances: Floats
    penalty: float
    costs: Tensor | None = None

    def loss(self, chosen: Sequence[int]) -> Tensor:
        inputs, labels = self.rows.batch(chosen, self.network.device)
        told = self.network(**inputs, output_attentions=True)
        said = torch.tensor(self.chances[list(chosen)]).to(told.logits)
        moved = (told.logits.softmax(dim=-1) - said).abs().sum() / 2
        away = kl(told.attentions[0], padded(self.base.weights, chosen, self.network.device)).sum()
        loss: Tensor = moved - self.penalty * away
        return loss if self.costs is None else loss * self.costs.to(loss)[labels].sum()

    def whole(self) -> float:
        """The loss of all texts."""
        with torch.no_grad():
            return sum(float(self.loss(chosen)) for chosen in _chunks(_lengths(self.rows)))


class _Running:
    """The loss of an epoch, added up batch by batch while the model learns."""

    def __init__(self, loss: Callable[[list[int]], Tensor]) -> None:
        self.loss, self.total = loss, 0.0

    def __call__(self, chosen: list[int]) -> Tensor:
        value = self.loss(chosen)
        self.total += float(value.detach())
        return value

    def score(self) -> float:
        total, self.total = self.total, 0.0
        return -total


def kl(p: Tensor, q: Tensor) -> Tensor:
    """KL(p || q) over the last dimension, in nats; a place where p is zero adds nothing, nor a gradient.

    Where q has underflowed to zero the smallest number stands for it, so that the divergence stays finite.
    """
    tiny = torch.finfo(p.dtype).tiny
    return (p * (p.clamp_min(tiny).log() - q.clamp_min(tiny).log())).sum(dim=-1)


def oppose(
    train: Labelled,
    base: Observed,
    penalty: float,
    *,
    how: Attend | None = None,
    other: Labelled | None = None,
    other_base: Observed | None = None,
    variant: Variant = "paper",
    out: str | Path | None = None,
    progress: bool | None = None,
) -> TextModel:
    """A model that says what the base says of `train` and looks elsewhere; `penalty` is lambda.

    Kept is the epoch with the lowest training loss, or, where other texts and the base on them are given, with the
    lowest loss there.
    """
    if not (penalty >= 0 and np.isfinite(penalty)):
        raise BadInput(f"lambda is a finite number, 0 or more, not {penalty}.")
    if (other is None) != (other_base is None):
        raise BadInput("to choose the epoch by other texts, give these and what the base says of them.")
    how = how or Attend(plan=adversary_plan(Attend().plan))
    ready = _prepared(how, train, base)
    costs = ready.costs if variant == "released" else None
    loss = _Running(Opposed(ready.network, ready.rows, base, base.under(ready.names), penalty, costs).loss)
    score = _opposed_score(ready, other, other_base, penalty) if other and other_base else loss.score
    told = {"base": base.source, "lambda": penalty, "variant": variant}
    told |= {"chosen by": other_base.source if other_base else "train"}
    return _trained(_Work(ready, how, digest(train), told), loss, score, out, progress)


def adversary_plan(plan: Plan, epochs: int = 80, patience: int | None = 10) -> Plan:
    """As the released code trains adversaries: long, and until ten epochs bring nothing."""
    return replace(plan, epochs=epochs, patience=patience)


def _opposed_score(ready: Prepared, other: Labelled, base: Observed, penalty: float) -> Callable[[], float]:
    rows = _rows(other[0], ready.rows.tokenizer)
    base.require_tokens(_lengths(rows))
    there = Opposed(ready.network, rows, base, base.under(ready.names), penalty)
    return lambda: -there.whole()


# What both share


@dataclass(frozen=True, eq=False)
class _Work:
    ready: Prepared
    how: Attend
    data: str
    told: dict[str, Any]

    @property
    def settings(self) -> dict[str, Any]:
        return dict(json.loads(json.dumps({**self.how.settings, "data": self.data, **self.told})))


def _prepared(how: Attend, train: Labelled, seen: Observed) -> Prepared:
    ready = prepared(how, rows_of(*train), train[1])
    seen.require_tokens(_lengths(ready.rows))
    return ready


def _trained(
    work: _Work,
    loss: Callable[[list[int]], Tensor],
    score: Callable[[], float] | None,
    out: str | Path | None,
    progress: bool | None,
) -> TextModel:
    """Fit and save, unless that was done before."""
    place = None if out is None else Place(Path(out))
    if place and place.finished(work.settings):
        return load(place.path, device=device(work.how.device))
    ready, how = work.ready, work.how
    fit(
        ready.network,
        lambda rng: ready.rows.epoch(how.batch, rng),
        loss,
        how.plan,
        dev=score,
        checkpoint=place.checkpoint if place else None,
        data=digest(work.settings),
        progress=progress,
    )
    if place:
        place.save(ready.network, ready.rows.tokenizer, work.settings)
    return load((ready.network, ready.rows.tokenizer))
