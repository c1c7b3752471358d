"""Training attentive models: an encoder, one attention, a decoder, from labelled texts.

    model = attend(texts, labels, how=Attend(encoder="lstm", vectors="glove"), dev=(texts, labels), out="DIR")

As Jain and Wallace (2019) trained theirs: Adam with amsgrad at 0.001, an L2 penalty of 1e-5 on all but the attention,
the loss summed over batches of 32, two labels weighed so that both count alike; the epoch with the best dev score is
kept, by the area under the ROC curve for two labels and by accuracy for more. Where the paper is silent or its code
differs (see the fields of `Attend`), the code's way is the default, for the published numbers came from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from assay.errors import BadInput, UnknownName
from assay.models import TextModel, load
from assay.models.own.attentive import AttentiveConfig, AttentiveForSequenceClassification, words
from assay.models.own.attentive.config import AttentionName, EncoderName
from assay.statistics.arrays import Floats
from assay.text.text import Row
from assay.training.batches import Rows, rows_of
from assay.training.digests import as_json, digest
from assay.training.fit import Plan, fit, seeded
from assay.training.place import KeptInPlace, Place, device, opened
from assay.training.recipes import Labelled
from assay.training.vectors import known_by, vectors

_LONGEST = 100_000


def _plan() -> Plan:
    return Plan(epochs=8, rate=1e-3, decay=1e-5, clip=1e6, optimiser="adam", undecayed=("attention.",))


@dataclass(frozen=True)
class Attend(KeptInPlace):
    """How an attentive model is made and trained.

    `answers` are the labels as given, or for questions every word of the vocabulary, or only the labels that stand in
    the text. `rarest` is the least number of training texts that have a word of the vocabulary. With `every_epoch` the
    weights after each epoch are kept too (assay.training.epochs).
    """

    encoder: EncoderName = "lstm"
    attention: AttentionName = "additive"
    hidden: int = 128
    size: int = 50
    vectors: str | None = None
    rarest: int = 1
    answers: Literal["labels", "vocabulary", "candidates"] = "labels"
    balanced: bool = True
    batch: int = 32
    plan: Plan = field(default_factory=_plan)
    device: str | None = None
    every_epoch: bool = False

    def __post_init__(self) -> None:
        for what, name, names in (
            ("encoder", self.encoder, get_args(EncoderName)),
            ("attention", self.attention, get_args(AttentionName)),
        ):
            if name not in names:
                raise UnknownName.of(what, name, names)
        if min(self.hidden, self.size, self.rarest, self.batch) < 1:
            raise BadInput("hidden, size, rarest and batch are 1 or more.")
        if self.hidden % 4:
            raise BadInput(f"hidden is a multiple of 4, one part for each width of convolution, not {self.hidden}.")

    @property
    def settings(self) -> Mapping[str, Any]:
        unwritten = ("plan", "device", *(() if self.every_epoch else ("every_epoch",)))
        own = {name: value for name, value in asdict(self).items() if name not in unwritten}
        return {"trainer": "attentive", **own, **known_by(self.vectors), **asdict(self.plan)}

    def make(
        self, texts: Sequence[Row], labels: Sequence[str], seed: int, out: Path, *, dev: Labelled | None = None
    ) -> None:
        """Train into the directory; see `assay.training.recipes`."""
        how = replace(self, plan=replace(self.plan, seed=seed))
        attend(texts, labels, how=how, dev=dev, out=out, progress=False)

    def open(self, out: Path) -> TextModel:
        return opened(out, self.device)


@dataclass(frozen=True)
class Prepared:
    """A network before its first step, the encoded texts, and what it costs to be wrong on each label."""

    network: Any
    rows: Rows
    names: tuple[str, ...]
    costs: Tensor | None

    def loss(self, chosen: list[int], **given: Tensor) -> Tensor:
        """The summed loss of these texts; `given` goes to the network."""
        inputs, labels = self.rows.batch(chosen, self.network.device)
        logits = self.network(**inputs, **given).logits
        costs = None if self.costs is None else self.costs.to(logits)
        return cross_entropy(logits, labels, weight=costs, reduction="sum")


def attend(
    texts: Sequence[str | Row],
    labels: Sequence[str],
    *,
    how: Attend | None = None,
    dev: tuple[Sequence[str | Row], Sequence[str]] | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> TextModel:
    """An attentive model of these texts; `settings` are fields of Attend. With `out` it is saved, and resumed."""
    how = replace(how or Attend(), **settings)
    given = rows_of(texts, labels)
    training = {**how.settings, "data": digest(given, labels, dev)}
    if out is not None and Place(Path(out)).finished(as_json(training)):
        return opened(Path(out), how.device)
    ready = prepared(how, given, labels)
    return trained(ready, how, training, ready.loss, dev_score(ready, dev) if dev else None, out, progress)


def trained(
    ready: Prepared,
    how: Attend,
    training: Mapping[str, Any],
    loss: Callable[[list[int]], Tensor],
    score: Callable[[], float] | None,
    out: str | Path | None,
    progress: bool | None,
) -> TextModel:
    """Fit and save, unless that was done before; `training` is what tells it from others."""
    place, training = None if out is None else Place(Path(out)), as_json(training)
    if place and place.finished(training):
        return opened(place.path, how.device)
    saved = ready.network, ready.rows.tokenizer
    fit(
        ready.network,
        lambda rng: ready.rows.epoch(how.batch, rng),
        loss,
        how.plan,
        dev=score,
        checkpoint=place.checkpoint if place else None,
        data=digest(training),
        progress=progress,
        after_epoch=partial(place.save_epoch, *saved) if place and how.every_epoch else None,
    )
    if place:
        place.save(*saved, training)
    return load(saved)


def prepared(how: Attend, texts: Sequence[Row], labels: Sequence[str], **config: Any) -> Prepared:
    """Vocabulary, network and encoded texts; `config` goes to the network's configuration."""
    asked = sorted(set(labels))
    tokenizer = words(texts, rarest=how.rarest, also=asked if how.answers != "labels" else ())
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    names = _names(how, asked, vocabulary)
    table = vectors(how.vectors, vocabulary, how.size, how.plan.seed)
    made = AttentiveConfig(
        encoder=how.encoder,
        attention=how.attention,
        vocab_size=len(vocabulary),
        embedding_size=table.shape[1],
        hidden_size=how.hidden,
        pair=len(texts[0]) == 2,
        candidates=[vocabulary[name] for name in names] if how.answers == "candidates" else None,
        id2label=dict(enumerate(names)),
        label2id={name: i for i, name in enumerate(names)},
        **config,
    )
    with seeded(None, how.plan.seed):
        network = AttentiveForSequenceClassification(made)
    network.embedding.weight.data.copy_(table)
    network.to(device(how.device))
    rows = Rows.of(texts, [names.index(label) for label in labels], tokenizer, _LONGEST)
    return Prepared(network, rows, names, _costs(how, rows.labels, len(names)))


def _names(how: Attend, asked: Sequence[str], vocabulary: Mapping[str, int]) -> tuple[str, ...]:
    if len(asked) < 2:
        raise BadInput("a model learns from texts of at least two labels.")
    if how.answers == "vocabulary":
        return tuple(sorted(vocabulary, key=lambda word: vocabulary[word]))
    return tuple(asked)


def _costs(how: Attend, labels: Sequence[int], count: int) -> Tensor | None:
    """With two labels, being wrong on the second costs as much more as there are fewer of it."""
    second = sum(labels)
    if count != 2 or not how.balanced:
        return None
    return torch.tensor([1.0, len(labels) / second - 1])


def dev_score(ready: Prepared, dev: tuple[Sequence[str | Row], Sequence[str]]) -> Callable[[], float]:
    """The area under the ROC curve for two labels, else accuracy."""
    texts, labels = rows_of(*dev), list(dev[1])
    if unknown := sorted(set(labels) - set(ready.names)):
        raise UnknownName.of("label", unknown[0], ready.names)

    def score() -> float:
        model = load((ready.network, ready.rows.tokenizer))
        return scored(model.predict([row if len(row) == 2 else row[0] for row in texts]), labels, model.labels)

    return score


def scored(chances: Floats, labels: Sequence[str], names: Sequence[str]) -> float:
    """What the best epoch is chosen by."""
    from sklearn.metrics import roc_auc_score  # slow to import, and only wanted here

    if len(names) == 2 and len(set(labels)) == 2:
        return float(roc_auc_score([label == names[1] for label in labels], chances[:, 1]))
    return float(np.mean([names[i] == label for i, label in zip(chances.argmax(axis=1), labels, strict=True)]))
