"""The filler of LIME_BERT_SST2: the masked language model, trained further on sentences of SST-2 (section C).

15 % of the tokens are to be guessed, of which 8 in 10 are masked, 1 is another token and 1 stays; Adam, batches of 8, a
rate that falls from 5e-5. The paper does not say for how many epochs; here they are three, the usual number then. It
takes the best epoch on dev, whose sentences are the ones that are explained; here the last epoch counts, and what is
also a sentence of dev is not learned. The model lies in DIR/models/mlm_sst2; a stopped run goes on from its last epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from assay.data import sst
from assay.errors import BadInput
from assay.training.batches import Rows
from assay.training.digests import as_json
from assay.training.fit import Plan, fit
from assay.training.place import Place
from assay_studies.double_trouble.methods import FURTHER
from assay_studies.request import Request

_PLAN = Plan(epochs=3, rate=5e-5, warm_up=0.0, decay=0.0)
_BATCH, _GUESSED, _MASKED, _OTHER = 8, 0.15, 0.8, 0.9  # below _MASKED a mask, from there to _OTHER another token


def further_trained(request: Request, sentences: Sequence[str]) -> Request:
    """The request with the model under its name: what the caller gave, or else what is trained here."""
    if FURTHER in request.models:
        return request
    place = Place(request.out / "models" / FURTHER)
    start: Any = request.open("mlm")
    training = training_of(start.fingerprint(), sentences)
    if not place.finished(training):
        request.say(f"the masked language model learns {len(sentences):,} sentences of SST-2")
        _train(start, sentences, place, training, request.progress)
    return replace(request, models={**request.models, FURTHER: str(place.path)})


def training_of(start: str, sentences: Sequence[str]) -> dict[str, Any]:
    """What decides the model: the one that it starts from, by its fingerprint, the sentences and the plan."""
    about = {"model": start, "data": digest(sentences), "batch": _BATCH, "guessed": _GUESSED}
    return dict(as_json({**about, **asdict(_PLAN)}))


def learnable(train: Path, dev: Iterable[str]) -> list[str]:
    """The sentences of train that are not sentences of dev, whatever their case and blanks."""
    known = set(map(_plain, dev))
    found = [row.strings[0] for row in sst.glue(train) if _plain(row.strings[0]) not in known]
    if not found:
        raise BadInput(f"{train} has no sentence to learn that is not in dev; leave this out by --size mlm_train=0.")
    return found


def _train(start: Any, sentences: Sequence[str], place: Place, training: dict[str, Any], progress: bool | None) -> None:
    model, tokenizer = deepcopy(start.model), deepcopy(start.tokenizer)
    rows = Rows.of([(s,) for s in sentences], [0] * len(sentences), tokenizer, start.encoder.window)
    fit(
        model,
        lambda rng: rows.epoch(_BATCH, rng),
        _loss(model, rows),
        _PLAN,
        checkpoint=place.checkpoint,
        data=digest(training),
        progress=progress,
    )
    place.save(model, tokenizer, training)


def _loss(model: Any, rows: Rows) -> Callable[[list[int]], Tensor]:
    """The generator of torch is set by `fit` at every epoch, so that a resumed run hides the same tokens."""

    def loss(chosen: list[int]) -> Tensor:
        inputs, _ = rows.batch(chosen, "cpu")
        ids = inputs["input_ids"]
        seen, guessed = hidden(ids, rows.tokenizer)
        given = {name: tensor.to(model.device) for name, tensor in {**inputs, "input_ids": seen}.items()}
        logits = model(**given).logits[guessed.to(model.device)]
        return cross_entropy(logits.float(), ids[guessed].to(model.device))

    return loss


def hidden(ids: Tensor, tokenizer: Any) -> tuple[Tensor, Tensor]:
    """The ids as the model sees them, and which of them it has to guess: no marks around a text, one at least."""
    around = torch.isin(ids, torch.tensor([tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id]))
    chance = torch.rand(ids.shape).masked_fill(around, 2.0)
    guessed = chance <= max(_GUESSED, float(chance.min()))
    how = torch.rand(ids.shape)
    seen = torch.where(guessed & (how < _MASKED), tokenizer.mask_token_id, ids)
    other = torch.randint(len(tokenizer), ids.shape)
    return torch.where(guessed & (how >= _MASKED) & (how < _OTHER), other, seen), guessed


def _plain(sentence: str) -> str:
    return " ".join(sentence.lower().split())


def digest(data: Any) -> str:
    return blake2b(repr(data).encode(), digest_size=16).hexdigest()
