"""Entropy regularisation: a model learns to be unsure of the texts that input reduction leaves without sense.

    maximise    sum log f(y | x)  +  lambda sum H(f(. | x~))          x labelled texts, x~ reduced ones

Feng et al. (2018), Pathologies of Neural Models Make Interpretations Difficult, section 4, arXiv:1804.07781.
schedule="joint" is this equation: a step on a batch of each kind, with means over the batches, so that lambda does not
depend on their sizes. schedule="alternate" is the released code: two batches of likelihood, then two of entropy, each
kind with an Adam of its own. Adam takes no notice of a factor before its whole loss (the released gamma of 0.001
changes nothing), so there lambda is what counts, the ratio of the two rates: released 0.2 (2e-4 to 1e-3), here 1.
A span reader has two distributions, of the first and of the last piece of an answer; their entropies are summed, and
only reduced questions of fewer than four words are used, as released.

Where we depart: the rate suits the fine-tuning of transformers, 2e-5; that of low-rank changes is the released 1e-3.
Lambda is 1, as a bundled model and some hundred texts make far fewer steps than the authors' training sets. There is
entropy from the first step on, as the model is trained already (the released SQuAD code waits 400 batches). The rate
rises and falls, weights decay, gradients are clipped (assay.training.fit). The user's model is not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

from assay.errors import BadInput, Unanswerable, UnknownName
from assay.models import TextModel
from assay.models.loading import load
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.precision import Lowered
from assay.models.transformers.tasks.span_reader import SpanReader
from assay.text.text import Row, Text
from assay.training import lora
from assay.training.batches import Rows
from assay.training.digests import as_json, digest
from assay.training.fit import Plan, fit, seeded
from assay.training.place import Place

Schedule = Literal["alternate", "joint"]
_RATE, _LOW_RANK_RATE = 2e-5, 1e-3


@dataclass(frozen=True, kw_only=True)
class Entropy:
    """How a model is regularised; `weight` is lambda, `turn` how many batches of a kind come before the other kind."""

    epochs: int = 3
    rate: float | None = None
    weight: float = 1.0
    schedule: Schedule = "alternate"
    turn: int = 2
    batch: int = 32
    rank: int = 0
    longest: int = 3  # words of a reduced question, for span readers only
    seed: int = 0
    device: str | None = None

    def __post_init__(self) -> None:
        if self.schedule not in get_args(Schedule):
            raise UnknownName.of("schedule", self.schedule, get_args(Schedule))
        if min(self.turn, self.batch, self.longest) < 1 or self.rank < 0:
            raise BadInput(
                f"turn, batch and longest are 1 or more, rank is 0 or more, "
                f"not {self.turn, self.batch, self.longest, self.rank}."
            )
        if not 0 <= self.weight < float("inf"):
            raise BadInput(f"the weight of the entropy is 0 or more, not {self.weight}.")

    @property
    def plan(self) -> Plan:
        rate = self.rate if self.rate is not None else _LOW_RANK_RATE if self.rank else _RATE
        return Plan(epochs=self.epochs, rate=rate, seed=self.seed)

    @property
    def settings(self) -> dict[str, Any]:
        """Where the model lies changes only the last bits."""
        own = {name: value for name, value in asdict(self).items() if name != "device"}
        return {"trainer": "entropy", **asdict(self.plan), **own, "rate": self.plan.rate}


class Step(NamedTuple):
    """The rows of one step: labelled ones, reduced ones, or both."""

    labelled: list[int]
    reduced: list[int]


def regularise(
    model: TextModel,
    texts: Sequence[Row],
    labels: Sequence[str],
    reduced: Sequence[Row],
    *,
    how: Entropy | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> TextModel:
    """A copy of the model, fine-tuned to know the labels of the texts and to be unsure of the reduced ones.

    A text is a tuple of one string, or of two. Labels are names of the model's own; a span reader's are answers, as
    they stand in the context. `settings` are fields of Entropy. `out` is the directory to save the model in; a killed
    training goes on from its last finished epoch.
    """
    how = replace(how or Entropy(), **settings)
    reader = trainable(model)
    data = digest(list(texts), list(labels), list(reduced))
    training = as_json({**how.settings, "start": reader.fingerprint(), "data": data})
    place = Place(Path(out)) if out is not None else None
    if place and place.finished(training):
        return _around(reader, load(place.path, device=str(reader.model.device)).model)  # type: ignore[attr-defined]
    copied = _around(reader, _copy(reader.model, how))
    _fit(copied, _Data.of(copied, texts, labels, reduced, how), how, place, training, progress)
    if how.rank:
        lora.merge(copied.model.base_model)
    if place:
        place.save(copied.model, copied.tokenizer, training)
    return copied


def trainable(model: TextModel) -> HuggingFace:
    """The model as it can be trained, or an error that says why it cannot."""
    reader = model.reference if isinstance(model, Lowered) else model
    if not isinstance(reader, HuggingFace) or (reader.task.widths and not isinstance(reader.task, SpanReader)):
        raise Unanswerable(f"{model.name} cannot be fine-tuned here; a Hugging Face classifier or span reader can.")
    if reader.multi_label:
        raise Unanswerable(f"{model.name} gives several labels to a text; models that choose one label can be mended.")
    if reader.most_rows == 1 or reader.enough == 0:
        raise Unanswerable(
            f"{model.name} cannot tell padding from text, so it cannot learn from batches; set config.pad_token_id."
        )
    return reader


def entropy(log_chances: Tensor) -> Tensor:
    """-sum p log p of every row [n]; what is impossible (-inf) adds nothing, and no NaN to the gradient."""
    finite = log_chances.masked_fill(torch.isinf(log_chances), 0.0)
    return -(log_chances.exp() * finite).sum(-1)


def log_chances(reader: HuggingFace, batch: Sequence[Any]) -> tuple[Tensor, ...]:
    """What the model chooses among: labels, or for a span reader the first piece of an answer, and the last."""
    with reader.network.working.itself():
        if isinstance(reader.task, SpanReader):
            return reader.task.ends(batch)
        return (reader.task.logits(batch).log_softmax(-1),)


def alternating(labelled: Sequence[list[int]], reduced: Iterator[list[int]], turn: int) -> list[Step]:
    """`turn` batches of labelled rows, as many of reduced ones, and so on."""
    steps: list[Step] = []
    for at in range(0, len(labelled), turn):
        part = labelled[at : at + turn]
        steps += [Step(rows, []) for rows in part]
        steps += [Step([], next(reduced)) for _ in part]
    return steps


@dataclass(frozen=True)
class _Data:
    """Encoded rows of both kinds; for each labelled row, what is right in each distribution of the model."""

    labelled: list[Any]
    targets: list[tuple[int, ...]]
    reduced: list[Any]

    @classmethod
    def of(
        cls, reader: HuggingFace, texts: Sequence[Row], labels: Sequence[str], reduced: Sequence[Row], how: Entropy
    ) -> _Data:
        if isinstance(reader.task, SpanReader):
            reduced = [row for row in reduced if len(Text.of(row[0])) <= how.longest]
        if not reduced:
            raise BadInput("there are no reduced texts to be unsure of; give more texts to reduce.")
        rows, targets = with_targets(reader, texts, labels)
        return cls(rows, targets, _encoded(reader, reduced))

    def steps(self, how: Entropy) -> Callable[[np.random.Generator], list[Step]]:
        """The steps of an epoch: every labelled row once, reduced rows again and again in new order."""

        def epoch(rng: np.random.Generator) -> list[Step]:
            labelled = _ordered(self.labelled).epoch(how.batch, rng)
            reduced = _endless(_ordered(self.reduced), how.batch, rng)
            if how.schedule == "alternate":
                return alternating(labelled, reduced, how.turn)
            return [Step(rows, next(reduced)) for rows in labelled]

        return epoch


def _fit(
    reader: HuggingFace,
    data: _Data,
    how: Entropy,
    place: Place | None,
    training: Mapping[str, Any],
    progress: bool | None,
) -> None:
    alternate = how.schedule == "alternate"
    fit(
        reader.model,
        data.steps(how),
        loss_of(reader, data, 1.0 if alternate else how.weight),
        how.plan,
        checkpoint=place.checkpoint if place else None,
        data=digest(training),
        progress=progress,
        rates=(1.0, how.weight) if alternate else (1.0,),
        turn=lambda step: 0 if step.labelled else 1,
    )


def loss_of(reader: HuggingFace, data: _Data, weight: float) -> Callable[[Step], Tensor]:
    """The mean loss of the labelled rows, less `weight` times the mean entropy of the reduced ones."""

    def loss(step: Step) -> Tensor:
        value = torch.zeros((), device=reader.device)
        if step.labelled:
            targets = torch.tensor([data.targets[i] for i in step.labelled], device=reader.device).T
            found = log_chances(reader, [data.labelled[i] for i in step.labelled])
            value = value - sum(one.gather(1, t[:, None]).mean() for one, t in zip(found, targets, strict=True))
        if step.reduced:
            found = log_chances(reader, [data.reduced[i] for i in step.reduced])
            value = value - weight * sum(entropy(one).mean() for one in found)
        return value

    return loss


def with_targets(
    reader: HuggingFace, texts: Sequence[Row], labels: Sequence[str]
) -> tuple[list[Any], list[tuple[int, ...]]]:
    """The texts as the model reads them, and what it should choose; an error where a label is none of its own."""
    if len(texts) != len(labels) or not texts:
        raise BadInput(f"every text needs one label; there are {len(texts)} texts and {len(labels)} labels.")
    return _answers(reader, texts, labels) if isinstance(reader.task, SpanReader) else _labels(reader, texts, labels)


def _labels(
    reader: HuggingFace, texts: Sequence[Row], labels: Sequence[str]
) -> tuple[list[Any], list[tuple[int, ...]]]:
    if unknown := sorted(set(labels) - set(reader.labels)):
        raise UnknownName.of("label", unknown[0], reader.labels)
    return _encoded(reader, texts), [(reader.labels.index(label),) for label in labels]


def _answers(
    reader: HuggingFace, texts: Sequence[Row], labels: Sequence[str]
) -> tuple[list[Any], list[tuple[int, ...]]]:
    """Questions in the contexts that the model sees, and where in them the answers begin and end."""
    seen = [reader.clip(Text.of((row[0], row[1]), names=reader.fields)).strings for row in texts]
    for i, ((_, context), answer) in enumerate(zip(seen, labels, strict=True), start=1):
        if not answer or answer not in context:
            raise BadInput(f"text {i}: the answer {answer[:40]!r} is not in the context that the model sees.")
    rows = reader.task.rows([(*row, _placed(row[1], answer)) for row, answer in zip(seen, labels, strict=True)])
    return list(rows), [(row.context[0] + row.answer[0], row.context[0] + row.answer[1]) for row in rows]


def _placed(context: str, answer: str) -> str:
    """The answer where it is first found, so that an answer such as "10:30 at night" is not taken for a place."""
    start = context.index(answer)
    return f"{start}:{start + len(answer)} {answer}"


def _encoded(reader: HuggingFace, rows: Sequence[Row]) -> list[Any]:
    """As the model reads them when it predicts, cut to its window."""
    if len({len(row) for row in rows}) != 1 or len(rows[0]) > 2:
        raise BadInput("the texts to learn from must all be single strings, or all be pairs.")
    spans = isinstance(reader.task, SpanReader)
    return list(reader.task.rows([(*row, "") for row in rows] if spans else rows))


def _ordered(encoded: Sequence[Any]) -> Rows:
    return Rows([{"input_ids": row[0]} for row in encoded], [], None)


def _endless(rows: Rows, size: int, rng: np.random.Generator) -> Iterator[list[int]]:
    while True:
        yield from rows.epoch(size, rng)


def _copy(model: Any, how: Entropy) -> Any:
    """Weights of its own, in float32 at least, and where asked with low-rank changes to learn."""
    copied = deepcopy(model).requires_grad_(True)
    copied = copied if copied.dtype == torch.float64 else copied.float()
    with seeded(None, how.seed):
        if how.rank:
            lora.add(copied.base_model, how.rank)
    return copied.to(how.device) if how.device else copied


def _around(reader: HuggingFace, model: Any) -> HuggingFace:
    return reader.around(model, f"{reader.name} mended")
