"""Probes: small classifiers of hidden states, one for each layer, and how many bits the labels take with their help.

    linear       softmax(W x + b)                         mlp      softmax(W' relu(W x + b) + b')
    scalar mix   x = gamma sum_l softmax(w)_l h_l         survey, eq. 23

Vectors are standardized by their training rows. The weights have a standard normal prior (L2 of |W|^2 / 2n), Adam goes
down to a learning rate of 0; all randomness comes from the seed. The probes of all layers and of all sets of labels are
trained on the same batches in one pass, and each is what it would be alone: nothing is shared between them but the
reading. Description lengths are in `description_lengths`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from assay.statistics.arrays import Floats, Ints
from assay.training.probe_instances import Instances

ProbeKind = Literal["linear", "mlp"]
_BATCH, _RATE, _HIDDEN = 256, 1e-2, 128
_LN2 = float(np.log(2))


@dataclass(frozen=True, kw_only=True)
class ProbePlan:
    """How probes are trained."""

    classes: int
    kind: ProbeKind = "linear"
    epochs: float = 3.0
    steps: int = 200  # at least
    seed: int = 0

    def sizes(self, inputs: int) -> list[int]:
        return [inputs, self.classes] if self.kind == "linear" else [inputs, _HIDDEN, self.classes]


class Classifiers(nn.Module):
    """Side by side, a classifier for each layer and each set of labels."""

    def __init__(self, layers: int, sets: int, inputs: int, plan: ProbePlan) -> None:
        super().__init__()
        generator, sizes = torch.Generator().manual_seed(plan.seed), plan.sizes(inputs)
        drawn = [torch.randn(b, a, generator=generator) * 0.1 / a**0.5 for a, b in pairwise(sizes)]
        self.matrices = nn.ParameterList(one.expand(layers, sets, *one.shape).clone() for one in drawn)
        self.biases = nn.ParameterList(torch.zeros(layers, sets, 1, size) for size in sizes[1:])

    def forward(self, x: Tensor) -> Tensor:
        """Of vectors [layers, n, size] the logits [layers, sets, n, classes]."""
        layers, count, _ = x.shape
        first, *others = self.matrices
        sets, width = first.shape[1:3]
        out: Tensor = (x @ first.flatten(1, 2).transpose(1, 2)).view(layers, count, sets, width).transpose(1, 2)
        out = out + self.biases[0]
        for matrix, bias in zip(others, self.biases[1:], strict=True):
            out = out.relu() @ matrix.transpose(2, 3) + bias
        return out

    def penalty(self) -> Tensor:
        halves: Tensor = torch.stack([(matrix**2).sum() / 2 for matrix in self.matrices]).sum()
        return halves


class Mixed(nn.Module):
    """A classifier of the mix of all layers (eq. 23), by the first set of labels."""

    def __init__(self, layers: int, inputs: int, plan: ProbePlan) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))  # before the softmax
        self.gamma = nn.Parameter(torch.ones(()))
        self.classifier = Classifiers(1, 1, inputs, plan)

    def forward(self, x: Tensor) -> Tensor:
        """Of vectors [layers, n, size] the logits [1, 1, n, classes]."""
        mixed = torch.tensordot(self.weights.softmax(0), x, dims=1)
        return self.classifier((self.gamma * mixed)[None])  # type: ignore[no-any-return]

    def penalty(self) -> Tensor:
        return self.classifier.penalty()

    @property
    def shares(self) -> list[float]:
        """How much each layer counts."""
        return [float(weight) for weight in self.weights.detach().softmax(0)]


@dataclass(frozen=True)
class FittedProbes:
    """Trained probes with the scale of the vectors that they read."""

    probes: Classifiers | Mixed
    scale: tuple[Tensor, Tensor]

    @torch.no_grad()
    def answers(self, given: Instances) -> tuple[Floats, Ints]:
        """The surprise of each label in bits (infinite for one not trained on) and the answer [layers, sets, n]."""
        read = Instances(given.states, given.rows, given.labels, self.scale)
        bits, said = [], []
        for chosen in read.parts():
            logs = self.probes(read.at(chosen)).log_softmax(dim=-1)
            labels = read.labels_at(chosen)[: logs.shape[1]].expand(logs.shape[:3])
            own = logs.gather(3, labels.clamp_min(0)[..., None])[..., 0]
            bits.append(torch.where(labels < 0, torch.inf, -own / _LN2).double().numpy())
            said.append(logs.argmax(dim=-1).numpy())
        return np.concatenate(bits, axis=-1), np.concatenate(said, axis=-1)


def fit(train: Instances, plan: ProbePlan) -> FittedProbes:
    """Probes of every layer for every set of labels."""
    train = train.scaled(plan.seed)
    return _fit(train, plan, [_classifiers(train, plan)])[0]


def fit_with_mix(train: Instances, plan: ProbePlan) -> tuple[FittedProbes, FittedProbes, list[float]]:
    """The same, and by the same reading one of all layers together, with how much each layer counts in it."""
    train = train.scaled(plan.seed)
    classifiers = _classifiers(train, plan)
    mixed = Mixed(len(classifiers.matrices[0]), classifiers.matrices[0].shape[3], plan)
    layers, mix = _fit(train, plan, [classifiers, mixed])
    return layers, mix, mixed.shares


def _classifiers(train: Instances, plan: ProbePlan) -> Classifiers:
    return Classifiers(train.states.layers, train.sets, train.states.size * train.rows.shape[1], plan)


def _fit(train: Instances, plan: ProbePlan, modules: Sequence[Classifiers | Mixed]) -> list[FittedProbes]:
    assert train.scale is not None
    for chosen, optimizer in training_steps(nn.ModuleList(modules), train, plan):
        x, labels = train.at(chosen), train.labels_at(chosen)
        losses = [loss_of(module(x), labels) + module.penalty() / len(train) for module in modules]
        torch.autograd.backward(torch.stack(losses).sum())
        optimizer.step()
    return [FittedProbes(module, train.scale) for module in modules]


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """The sum over probes of the mean cross-entropy; logits [layers, sets, n, classes], labels [sets or more, n]."""
    wanted = labels[None, : logits.shape[1]].expand(logits.shape[:3])
    summed = nn.functional.cross_entropy(logits.flatten(0, 2), wanted.flatten(), reduction="sum")
    return summed / logits.shape[2]


def training_steps(
    module: nn.Module, train: Instances, plan: ProbePlan
) -> Iterator[tuple[Ints, torch.optim.Optimizer]]:
    """Batches in an order that the seed decides, and the optimizer of each step with a rate that falls to 0."""
    rng = np.random.default_rng([plan.seed, len(train)])
    steps = max(plan.steps, int(plan.epochs * len(train) / _BATCH))
    optimizer = torch.optim.Adam(module.parameters(), lr=_RATE)
    order, at = rng.permutation(len(train)), 0
    for step in range(steps):
        if at >= len(train):
            order, at = rng.permutation(len(train)), 0
        chosen, at = np.sort(order[at : at + _BATCH]), at + _BATCH
        optimizer.param_groups[0]["lr"] = _RATE * (1 - step / steps)
        optimizer.zero_grad()
        yield chosen, optimizer
