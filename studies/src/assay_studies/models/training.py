"""Training our own small models: what they have in common.

Vectors for the words are given (GloVe, a file) or random; given ones stay as they are unless `tuned`. With `out` the
model is saved, and a killed run goes on from its last finished epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from assay.errors import BadInput
from assay.models import TextModel, load
from assay.models.own.attentive.words import words
from assay.text.text import Row
from assay.training.batches import Rows
from assay.training.digests import as_json, digest
from assay.training.fit import Plan, fit, seeded
from assay.training.place import Place, device
from assay.training.vectors import known_by, vectors

LONGEST = 100_000


@dataclass(frozen=True)
class How:
    """What is told of every training."""

    plan: Plan
    hidden: int
    size: int = 50
    vectors: str | None = None
    tuned: bool = False
    rarest: int = 1
    batch: int = 32
    device: str | None = None

    def __post_init__(self) -> None:
        if min(self.hidden, self.size, self.rarest, self.batch) < 1:
            raise BadInput("hidden, size, rarest and batch are 1 or more.")

    @property
    def settings(self) -> dict[str, Any]:
        own = {name: value for name, value in asdict(self).items() if name not in ("plan", "device")}
        return {"trainer": type(self).__name__, **own, **known_by(self.vectors), **asdict(self.plan)}


@dataclass(frozen=True)
class Ready:
    """A network before its first step, its encoded texts, and the mean loss of some of them."""

    network: Any
    rows: Rows
    loss: Callable[[list[int]], Tensor]


def learnt(
    how: How,
    make: Callable[[], Ready],
    data: Any,
    *,
    dev: Callable[[TextModel], float] | None,
    out: str | Path | None,
    progress: bool | None,
) -> TextModel:
    """The trained model; the one in `out` if the same training ended there before."""
    place = None if out is None else Place(Path(out))
    training = as_json({**how.settings, "data": digest(data)})
    if place and place.finished(training):
        return load(place.path, device=device(how.device))
    ready = make()
    network, tokenizer = ready.network, ready.rows.tokenizer
    fit(
        network,
        lambda rng: ready.rows.epoch(how.batch, rng),
        ready.loss,
        how.plan,
        dev=(lambda: dev(load((network, tokenizer)))) if dev else None,
        checkpoint=place.checkpoint if place else None,
        data=digest(training),
        progress=progress,
    )
    network.requires_grad_(True)
    if place:
        place.save(network, tokenizer, training)
    return load((network, tokenizer))


def vocabulary(how: How, texts: Iterable[Sequence[str]], also: Iterable[str]) -> Any:
    """The tokenizer of these texts; `also` are strings whose words are known too, if their vectors are given."""
    return words([*texts, *([(string,) for string in also] if how.vectors else ())], rarest=how.rarest)


def made(how: How, kind: Any, config: Any, tokenizer: Any, **settings: Any) -> Any:
    """The network with its first vectors, where it is to be trained."""
    known: dict[str, int] = tokenizer.get_vocab()
    table = vectors(how.vectors, known, how.size, how.plan.seed)
    sizes = {"vocab_size": len(known), "embedding_size": table.shape[1], "hidden_size": how.hidden}
    with seeded(None, how.plan.seed):
        network = kind(config(**sizes, **settings))
    network.embedding.weight.data.copy_(table)
    network.embedding.weight.requires_grad_(how.tuned or how.vectors is None)
    return network.to(device(how.device))


def labelled(names: Sequence[str]) -> dict[str, Any]:
    """The names of the labels as a configuration holds them."""
    if len(names) < 2:
        raise BadInput("a model learns from texts of at least two labels.")
    return {"id2label": dict(enumerate(names)), "label2id": {name: i for i, name in enumerate(names)}}


def right(model: TextModel, texts: Sequence[Row], labels: Sequence[str]) -> float:
    """The share of the texts for which the model predicts the label."""
    found = model.predict(texts).argmax(axis=1)
    return float(sum(model.labels[i] == label for i, label in zip(found, labels, strict=True)) / len(labels))


def paired(texts: Sequence[Row], others: Sequence[Any], what: str) -> list[Row]:
    """Pairs of strings, as many as there are labels or answers."""
    if len(texts) != len(others) or not texts:
        raise BadInput(f"every pair needs one {what}; there are {len(texts)} pairs and {len(others)} of these.")
    if strange := next((text for text in texts if isinstance(text, str) or len(text) != 2), None):
        raise BadInput(f"a pair is a tuple of two strings, not {strange!r:.60}.")
    return [tuple(text) for text in texts]
