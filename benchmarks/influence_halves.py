"""Many halves of a training set, each fine-tuned as `FineTune` does it, side by side on one card.

The networks of a group are one: parameters [networks, ...] under torch.func.vmap, so a step of all costs about as many
calls as a step of one. Every network has its own rows in its own order, its own norm to clip, its own dropout, and the
rate that the plan gives it; none depends on another (tests/benchmarks/test_influence_halves.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call, vmap

from assay.text.text import Row
from assay.training.batches import Rows
from assay.training.finetune import FineTune, started, with_head
from assay.training.fit import seeded, slope

_WIDTH = 128
_SMALL = 1e-6  # as torch's clip_grad_norm_


@dataclass(frozen=True, eq=False)
class Halves:
    """What is learned, by which recipe; `parts` [networks, rows] says which rows each network learns, as many each."""

    how: FineTune
    texts: Sequence[Row]
    labels: Sequence[int]
    names: Sequence[str]

    def trained(self, parts: np.ndarray, seed: int, asked: Sequence[Row]) -> np.ndarray:
        """The logits [networks, asked, labels] of one network for each part."""
        sizes = set(parts.sum(axis=1).tolist())
        if len(sizes) != 1:
            raise ValueError(f"the parts have {sorted(sizes)} rows; they go side by side when they have as many.")
        base, tokenizer = started(self.how.start)
        with seeded(None, seed):
            network = with_head(base, self.names, tokenizer).to(self.how.device)
        network.set_attn_implementation("eager")
        group = _Group(network, len(parts), self.how)
        rows = [self._rows(part, tokenizer) for part in parts]
        for epoch in range(self.how.plan.epochs):
            batches = [self._epoch(one, seed, epoch) for one in rows]
            with seeded(network, seed * self.how.plan.epochs + epoch):
                group.learn(rows, batches, epoch)
        return group.answers(Rows.of(asked, [0] * len(asked), tokenizer, _WIDTH))

    def _rows(self, part: np.ndarray, tokenizer: Any) -> Rows:
        chosen = np.flatnonzero(part)
        return Rows.of([self.texts[i] for i in chosen], [self.labels[i] for i in chosen], tokenizer, _WIDTH)

    def _epoch(self, rows: Rows, seed: int, epoch: int) -> list[list[int]]:
        """The order that `fit` would take; with one seed the batches of all parts are about equally long in turn."""
        return rows.epoch(self.how.batch, np.random.default_rng([seed, epoch]))


class _Group:
    """Copies of a network that learn apart from each other."""

    def __init__(self, network: Any, count: int, how: FineTune) -> None:
        self.plain, self.how, self.device = deepcopy(network), how, next(network.parameters()).device
        self.weights = {
            name: one.detach().expand(count, *one.shape).clone().requires_grad_()
            for name, one in network.named_parameters()
        }
        self.optimiser = torch.optim.AdamW(
            list(self.weights.values()), lr=how.plan.rate, weight_decay=how.plan.decay, fused=True
        )

    def logits(self, inputs: Mapping[str, Tensor], dims: int | None) -> Tensor:
        """[networks, texts, labels]; `dims` is 0 where each network has its own texts, None where all have the same."""

        def one(own: Mapping[str, Tensor], given: Mapping[str, Tensor]) -> Tensor:
            found: Tensor = functional_call(self.plain, dict(own), (), dict(given)).logits
            return found

        found: Tensor = vmap(one, in_dims=(0, dims), randomness="different")(self.weights, dict(inputs))
        return found

    def learn(self, rows: Sequence[Rows], batches: Sequence[list[list[int]]], epoch: int) -> None:
        self.plain.train()
        steps = len(batches[0])
        for at in range(steps):
            share = slope((epoch * steps + at + 0.5) / (self.how.plan.epochs * steps), self.how.plan.warm_up)
            for group in self.optimiser.param_groups:
                group["lr"] = self.how.plan.rate * share
            self._step(*_stacked([one.batch(turn[at], "cpu") for one, turn in zip(rows, batches, strict=True)]))

    def _step(self, inputs: Mapping[str, Tensor], labels: Tensor) -> None:
        logits = self.logits({name: one.to(self.device) for name, one in inputs.items()}, 0)
        losses = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), labels.to(self.device).flatten(), reduction="sum"
        )
        self.optimiser.zero_grad(set_to_none=True)
        (losses / labels.shape[1]).backward()
        self._clip()
        self.optimiser.step()

    def _clip(self) -> None:
        """The gradients of each network by its own norm."""
        found = [one.grad for one in self.weights.values() if one.grad is not None]
        squares = torch.stack([one.flatten(1).square().sum(dim=1) for one in found]).sum(dim=0)
        shares = (self.how.plan.clip / (squares.sqrt() + _SMALL)).clamp(max=1)
        for one in found:
            one.mul_(shares.view(-1, *[1] * (one.dim() - 1)))

    def answers(self, rows: Rows) -> np.ndarray:
        self.plain.eval()
        found = []
        with torch.no_grad():
            for at in _chunks(len(rows.encoded)):
                given, _ = rows.batch(at, "cpu")
                inputs = {name: one.to(self.device) for name, one in _masked(given).items()}
                found.append(self.logits(inputs, None).cpu())
        return np.asarray(torch.cat(found, dim=1).double().numpy())


def _chunks(count: int, size: int = 25) -> Iterator[list[int]]:
    yield from (list(range(at, min(count, at + size))) for at in range(0, count, size))


def _stacked(batches: Sequence[tuple[Mapping[str, Tensor], Tensor]]) -> tuple[dict[str, Tensor], Tensor]:
    """The batches of all networks, padded to the longest."""
    longest = max(given["input_ids"].shape[1] for given, _ in batches)
    padded = [
        {name: torch.nn.functional.pad(one, (0, longest - one.shape[1])) for name, one in given.items()}
        for given, _ in batches
    ]
    joined = {name: torch.stack([one[name] for one in padded]) for name in padded[0]}
    return _masked(joined), torch.stack([labels for _, labels in batches])


def _masked(inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """With the mask as it is added to the attention [.., texts, 1, places, places], as vmap takes no other."""
    mask = inputs["attention_mask"]
    added = (mask[..., None, None, :].float() - 1) * 1e9
    wide = added.expand(*mask.shape[:-1], 1, mask.shape[-1], mask.shape[-1])
    return {**inputs, "attention_mask": wide}
