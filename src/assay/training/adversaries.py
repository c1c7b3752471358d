"""Adversaries of several lambdas side by side, each as `oppose` trains it alone.

They have one seed, so they begin alike and read the same batches; only their penalties differ. Each keeps its epoch of
the lowest training loss, and is weary after as many epochs without a better one as the plan has patience; the run ends
when all are. The run is saved after each epoch, and all models when it ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from assay.training.adversary import Opposed, Variant, require_lambda, training_of
from assay.training.attentive import Attend, Prepared
from assay.training.digests import as_json, digest
from assay.training.fit import Plan, fit
from assay.training.guided import Labelled, prepared_for
from assay.training.observed import Observed
from assay.training.place import Place
from assay.training.side_by_side import SideBySide


def oppose_side_by_side(
    train: Labelled,
    base: Observed,
    penalties: Sequence[float],
    outs: Sequence[Path],
    *,
    how: Attend,
    variant: Variant = "paper",
    progress: bool | None = None,
) -> None:
    """Train a model for each lambda into its directory; those that are there already are left as they are."""
    for penalty in penalties:
        require_lambda(penalty)
    each = {
        Place(out): as_json(training_of(how, train, base, penalty, variant))
        for penalty, out in zip(penalties, outs, strict=True)
    }
    missing = [not place.finished(training) for place, training in each.items()]
    left = [penalty for penalty, is_missing in zip(penalties, missing, strict=True) if is_missing]
    if left:
        places = {place: each[place] for place, is_missing in zip(each, missing, strict=True) if is_missing}
        _fit(prepared_for(how, train, base), base, left, places, how.plan, variant, how.batch, progress)


def _fit(
    ready: Prepared,
    base: Observed,
    penalties: Sequence[float],
    places: Mapping[Place, Mapping[str, Any]],
    plan: Plan,
    variant: Variant,
    batch: int,
    progress: bool | None,
) -> None:
    several = Watched(ready.network, len(penalties), plan.patience)
    lambdas = torch.tensor(penalties, dtype=torch.float32, device=several.device)
    opposed = Opposed.to(ready, base, lambdas, variant, several)
    known = digest([dict(training) for training in places.values()])
    checkpoint = next(iter(places)).path.with_name(f"{known}.checkpoint")
    fit(
        several,
        lambda rng: ready.rows.epoch(batch, rng),
        lambda chosen: several.add(opposed.loss(chosen)),
        replace(plan, patience=1),  # an epoch in which all are weary is no better one
        dev=several.watch,
        checkpoint=checkpoint,
        data=known,
        progress=progress,
    )
    for number, (place, training) in enumerate(places.items()):
        ready.network.load_state_dict(several.weights(number))
        place.save(ready.network.eval(), ready.rows.tokenizer, training)
    checkpoint.unlink(missing_ok=True)


class Watched(SideBySide):
    """Networks side by side, and which epoch of each was the best; all of it is in the checkpoint."""

    def __init__(self, network: torch.nn.Module, count: int, patience: int | None) -> None:
        super().__init__(network, count)
        self.patience = patience
        self.register_buffer("total", torch.zeros(count, dtype=torch.float64, device=self.device))
        self.register_buffer("lowest", torch.full_like(self.total, torch.inf))
        self.register_buffer("since", torch.zeros_like(self.total, dtype=torch.int64))
        self.register_buffer("weary", torch.zeros_like(self.total, dtype=torch.bool))
        self.register_buffer("epochs", torch.zeros((), dtype=torch.int64))

    total: Tensor
    lowest: Tensor
    since: Tensor
    weary: Tensor
    epochs: Tensor

    def add(self, losses: Tensor) -> Tensor:
        """Count the loss of each network; their sum has the gradients of all."""
        self.total += losses.detach().double()
        return losses.sum()

    def watch(self) -> float:
        """After an epoch: keep those that did better than ever. How many epochs left any still learning."""
        better = (self.total < self.lowest) & ~self.weary
        self.keep(better)
        self.lowest.copy_(torch.where(better, self.total, self.lowest))
        self.since.copy_(torch.where(better, 0, self.since + 1))
        if self.patience is not None:
            self.weary |= self.since >= self.patience
        self.epochs += int(not self.weary.all())
        self.total.zero_()
        return float(self.epochs)
