"""Training an attentive model to say what a base model says, and to look elsewhere.

    minimise  sum_i TVD(y_i, y'_i) - lambda sum_i KL(a_i || a'_i)        y', a' of the base model

Wiegreffe and Pinter (2019), arXiv:1908.04626, section 4. The loss is summed over a batch, not averaged: only so lambda
means what it means there. Gold labels are no part of it. The released code (variant="released") differs in two ways: of
two labels it counts one, so that its TVD is half of this one and its lambda does as much as twice that lambda here; and
it multiplies the loss of a batch by the summed costs of its gold labels. The published numbers are of that code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from assay.errors import BadInput
from assay.models import TextModel
from assay.models.transformers.handlers.adversary import kl
from assay.statistics.arrays import Floats
from assay.text.text import Row
from assay.training.attention_reading import chunks, encoded, padded, token_counts
from assay.training.attentive import Attend, Prepared, trained
from assay.training.batches import Rows
from assay.training.digests import digest
from assay.training.fit import Plan
from assay.training.guided import Labelled, prepared_for
from assay.training.observed import Observed
from assay.training.place import KeptInPlace, opened
from assay.training.recipes import Labelled as LabelledRows

Variant = Literal["paper", "released"]


@dataclass(frozen=True, eq=False)
class Adversarial(KeptInPlace):
    """The recipe: `base` is what the base model says of all texts that are learned from or chosen by.

    Where Train has a dev, the epoch with the lowest loss there is kept, else that with the lowest training loss.
    """

    how: Attend
    base: Observed
    penalty: float
    variant: Variant = "paper"

    @property
    def settings(self) -> Mapping[str, Any]:
        own = {"base": self.base.source, "lambda": self.penalty, "variant": self.variant}
        return {**self.how.settings, "trainer": "adversary", **own}

    def make(
        self, texts: Sequence[Row], labels: Sequence[str], seed: int, out: Path, *, dev: LabelledRows | None = None
    ) -> None:
        how = replace(self.how, plan=replace(self.how.plan, seed=seed))
        there = None if dev is None else self.base.of(dev[0])
        chosen: dict[str, Any] = {"other": dev, "other_base": there, "variant": self.variant}
        oppose((texts, labels), self.base.of(texts), self.penalty, how=how, **chosen, out=out, progress=False)

    def make_all(
        self,
        recipes: Sequence[Adversarial],
        texts: Sequence[Row],
        labels: Sequence[str],
        seed: int,
        outs: Sequence[Path],
    ) -> None:
        """Recipes that differ in their lambda alone, side by side, each chosen by its training loss."""
        from assay.training.adversaries import oppose_side_by_side  # it builds on this module

        how = replace(self.how, plan=replace(self.how.plan, seed=seed))
        base, penalties = self.base.of(texts), [one.penalty for one in recipes]
        oppose_side_by_side((texts, labels), base, penalties, outs, how=how, variant=self.variant, progress=False)

    def open(self, out: Path) -> TextModel:
        return opened(out, self.how.device)


@dataclass(frozen=True, eq=False)
class Opposed:
    """The loss of a network against a base model on some texts.

    `costs` and `counted`, the share of the TVD that counts, are those of the released code.
    """

    network: Any
    rows: Rows
    base: Observed
    chances: Floats
    penalty: float | Tensor
    costs: Tensor | None = None
    counted: float = 1.0

    @classmethod
    def to(cls, ready: Prepared, base: Observed, penalty: float | Tensor, variant: Variant, network: Any) -> Opposed:
        """That of a network, or of several side by side, on the texts that are learned from."""
        costs = ready.costs if variant == "released" else None
        counted = counted_share(variant, len(ready.names))
        return cls(network, ready.rows, base, base.under(ready.names), penalty, costs, counted)

    def loss(self, chosen: Sequence[int]) -> Tensor:
        """Of these texts together; of networks side by side that of each, under its own lambda."""
        inputs, labels = self.rows.batch(chosen, self.network.device)
        output = self.network(**inputs, output_attentions=True)
        target = torch.tensor(self.chances[list(chosen)]).to(output.logits)
        moved = (output.logits.softmax(dim=-1) - target).abs().sum(dim=(-2, -1)) / 2 * self.counted
        away = kl(output.attentions[0], padded(self.base.weights, chosen, self.network.device)).sum(dim=-1)
        loss: Tensor = moved - self.penalty * away
        return loss if self.costs is None else loss * self.costs.to(loss)[labels].sum()

    def whole(self) -> float:
        """The loss of all texts."""
        with torch.no_grad():
            return sum(float(self.loss(chosen)) for chosen in chunks(token_counts(self.rows)))


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
    require_lambda(penalty)
    if (other is None) != (other_base is None):
        raise BadInput("to choose the epoch by other texts, give these and what the base says of them.")
    how = how or Attend(plan=adversary_plan(Attend().plan))
    ready = prepared_for(how, train, base)
    loss = _Running(Opposed.to(ready, base, penalty, variant, ready.network).loss)
    score = _opposed_score(ready, other, other_base, penalty, variant) if other and other_base else loss.score
    training = training_of(how, train, base, penalty, variant, digest(other) if other else "train")
    return trained(ready, how, training, loss, score, out, progress)


def require_lambda(penalty: float) -> None:
    if not (penalty >= 0 and np.isfinite(penalty)):
        raise BadInput(f"lambda is a finite number, 0 or more, not {penalty}.")


def training_of(
    how: Attend, train: Labelled, base: Observed, penalty: float, variant: Variant, chosen_by: str = "train"
) -> dict[str, Any]:
    """What tells an adversary from others."""
    own = {"base": base.source, "lambda": penalty, "variant": variant, "chosen by": chosen_by}
    return {**how.settings, "data": digest(train), **own}


def adversary_plan(plan: Plan, epochs: int = 80, patience: int | None = 10) -> Plan:
    """As the released code trains adversaries: long, and until ten epochs bring nothing."""
    return replace(plan, epochs=epochs, patience=patience)


def counted_share(variant: Variant, labels: int) -> float:
    """The share of the TVD that counts: the released code has one number for two labels."""
    return 0.5 if variant == "released" and labels == 2 else 1.0


def _opposed_score(
    ready: Prepared, other: Labelled, base: Observed, penalty: float, variant: Variant
) -> Callable[[], float]:
    rows = encoded(other[0], ready.rows.tokenizer)
    base.require_tokens(token_counts(rows))
    counted = counted_share(variant, len(ready.names))
    there = Opposed(ready.network, rows, base, base.under(ready.names), penalty, counted=counted)
    return lambda: -there.whole()
