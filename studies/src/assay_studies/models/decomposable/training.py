"""Training decomposable attention on labelled pairs.

    model = decompose(pairs, labels, vectors="glove", dev=(pairs, labels), out="DIR")

Parikh et al. (2016), arXiv:1606.01933, with word vectors that stay as they are, dropout of 0.2 and batches of 32. They
take Adagrad at 0.05 over 50 million steps; here it is Adam at 0.001 with amsgrad, and the epoch that is best on dev.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.nn.functional import cross_entropy

from assay.errors import BadInput, UnknownName
from assay.models import TextModel
from assay.text.text import Row
from assay.training.batches import Rows
from assay.training.fit import Plan
from assay_studies.models.decomposable import DecomposableConfig, DecomposableForSequenceClassification
from assay_studies.models.training import LONGEST, How, Ready, labelled, learnt, made, paired, right, vocabulary


def _plan() -> Plan:
    return Plan(epochs=15, rate=1e-3, decay=0.0, clip=5.0, patience=4, optimiser="adam")


@dataclass(frozen=True)
class Decompose(How):
    """How a decomposable attention model is made and trained."""

    plan: Plan = field(default_factory=_plan)
    hidden: int = 200
    dropout: float = 0.2

    def train(self, texts: Sequence[Row], labels: Sequence[str], seed: int) -> TextModel:
        return decompose(texts, labels, how=replace(self, plan=replace(self.plan, seed=seed)), progress=False)


def decompose(
    pairs: Sequence[Row],
    labels: Sequence[str],
    *,
    how: Decompose | None = None,
    dev: tuple[Sequence[Row], Sequence[str]] | None = None,
    also: Sequence[str] = (),
    out: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> TextModel:
    """A classifier of pairs; `settings` are fields of Decompose, `also` strings whose words it is to know too."""
    how = replace(how or Decompose(), **settings)
    given, names = paired(pairs, labels, "label"), sorted(set(labels))
    if dev and (unknown := sorted(set(dev[1]) - set(names))):
        raise UnknownName.of("label", unknown[0], names)
    tried = (paired(*dev, "label"), list(dev[1])) if dev else None

    def make() -> Ready:
        return _ready(how, given, [names.index(label) for label in labels], names, also)

    scored = (lambda model: right(model, *tried)) if tried else None
    return learnt(how, make, (given, list(labels), tried, list(also)), dev=scored, out=out, progress=progress)


def _ready(how: Decompose, pairs: Sequence[Row], labels: list[int], names: Sequence[str], also: Sequence[str]) -> Ready:
    if not 0 <= how.dropout < 1:
        raise BadInput(f"dropout is a share below 1, not {how.dropout}.")
    tokenizer = vocabulary(how, pairs, also)
    config = {"dropout": how.dropout, **labelled(names)}
    network = made(how, DecomposableForSequenceClassification, DecomposableConfig, tokenizer, **config)
    rows = Rows.of(pairs, labels, tokenizer, LONGEST)

    def loss(chosen: list[int]) -> Tensor:
        inputs, wanted = rows.batch(chosen, network.device)
        return cross_entropy(network(**inputs).logits, wanted)

    return Ready(network, rows, loss)
