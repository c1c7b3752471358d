"""Probes: small classifiers of hidden states, and how many bits the labels take with their help.

    linear       softmax(W x + b)                         mlp      softmax(W' relu(W x + b) + b')
    scalar mix   x = gamma sum_l softmax(w)_l h_l         survey, eq. 23

Vectors are standardized by their training rows. The weights have a standard normal prior (L2 of |W|^2 / 2n), Adam goes
down to a learning rate of 0; all randomness comes from the seed. Description lengths (Voita and Titov, 2020) in bits:

    online       log2 K for the first 0.1 % of the labels, then each portion by a probe of all before it
    variational  what the probe gets wrong, and the KL divergence of its weights from their prior

The released code of Voita and Titov adds natural logarithms to log2 K; here every term is divided by ln 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from assay.statistics.arrays import Floats, Ints

ProbeKind = Literal["linear", "mlp"]
Code = Literal["online", "variational"]
PORTIONS = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.0625, 0.125, 0.25, 0.5, 1.0)
_BATCH, _RATE, _HIDDEN = 256, 1e-2, 128
_STANDARDIZED_BY = 20_000  # rows that mean and spread are estimated from
_LN2 = float(np.log(2))


@dataclass(frozen=True)
class Instances:
    """Rows of one or two words each [n, places] in states by layer, and their labels [n]; -1 is none of the known."""

    layers: Sequence[np.ndarray[Any, np.dtype[np.float32]]]
    rows: Ints
    labels: Ints
    scale: tuple[Tensor, Tensor] | None = None  # mean and spread of the vectors [layers, size], where they are known

    def __len__(self) -> int:
        return len(self.labels)

    def at(self, chosen: Ints) -> Tensor:
        """The vectors of these instances, places side by side [n, layers, size]."""
        rows = self.rows[chosen]
        found = [np.concatenate([layer[rows[:, k]] for k in range(rows.shape[1])], axis=1) for layer in self.layers]
        return torch.from_numpy(np.stack(found, axis=1))

    def some(self, chosen: Ints) -> Instances:
        """Some of them; standardized as all are, which takes no label to know."""
        return replace(self, rows=self.rows[chosen], labels=self.labels[chosen])

    def scaled(self, seed: int) -> Instances:
        """The same with the mean and the spread of its vectors; directions without spread are not blown up."""
        if self.scale is not None:
            return self
        first = np.sort(np.random.default_rng([seed, 2]).permutation(len(self))[:_STANDARDIZED_BY])
        x = self.at(first)
        spread = x.std(dim=0, correction=0)
        least = spread.mean().clamp_min(1e-12) * 1e-3
        return replace(self, scale=(x.mean(dim=0), spread.clamp_min(least)))


@dataclass(frozen=True, kw_only=True)
class ProbePlan:
    """How a probe is trained."""

    classes: int
    kind: ProbeKind = "linear"
    epochs: float = 3.0
    steps: int = 200  # at least
    seed: int = 0


class Probe(nn.Module):
    """A classifier of standardized vectors; of several layers, of their mix."""

    mean: Tensor
    spread: Tensor

    def __init__(self, train: Instances, plan: ProbePlan) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(plan.seed)
        scale = train.scaled(plan.seed).scale
        assert scale is not None
        self.mean, self.spread = scale
        layers, size = self.mean.shape
        self.weights = nn.Parameter(torch.zeros(layers))  # before the softmax
        self.gamma = nn.Parameter(torch.ones(()))
        sizes = [size, plan.classes] if plan.kind == "linear" else [size, _HIDDEN, plan.classes]
        self.matrices = nn.ParameterList(
            torch.randn(b, a, generator=generator) * 0.1 / a**0.5 for a, b in pairwise(sizes)
        )
        self.biases = nn.ParameterList(torch.zeros(b) for b in sizes[1:])

    def forward(self, x: Tensor) -> Tensor:
        x = (x - self.mean) / self.spread
        x = self.gamma * (self.weights.softmax(0)[:, None] * x).sum(dim=1) if x.shape[1] > 1 else x[:, 0]
        for k, (matrix, bias) in enumerate(zip(self.matrices, self.biases, strict=True)):
            x = (x.relu() if k else x) @ matrix.T + bias
        return x

    def penalty(self) -> Tensor:
        return torch.stack([(matrix**2).sum() / 2 for matrix in self.matrices]).sum()

    @torch.no_grad()
    def answers(self, given: Instances) -> tuple[Floats, Ints]:
        """For every instance the surprise of its label in bits (infinite for one not trained on), and the answer."""
        bits, said = [], []
        for chosen in np.array_split(np.arange(len(given)), max(1, len(given) // 4096)):
            logs = self(given.at(chosen)).log_softmax(dim=1)
            labels = torch.from_numpy(given.labels[chosen])
            own = logs.gather(1, labels.clamp_min(0)[:, None])[:, 0]
            bits.append(torch.where(labels < 0, torch.inf, -own / _LN2).double().numpy())
            said.append(logs.argmax(dim=1).numpy())
        return np.concatenate(bits), np.concatenate(said)

    @property
    def mix(self) -> list[float]:
        """How much each layer counts."""
        return [float(weight) for weight in self.weights.detach().softmax(0)]


def fit(train: Instances, plan: ProbePlan) -> Probe:
    """A probe trained on these instances."""
    probe = Probe(train, plan)
    for chosen, optimizer in _steps(probe, train, plan):
        logits = probe(train.at(chosen))
        loss = nn.functional.cross_entropy(logits, torch.from_numpy(train.labels[chosen]))
        torch.autograd.backward(loss + probe.penalty() / len(train))
        optimizer.step()
    return probe


def _steps(module: nn.Module, train: Instances, plan: ProbePlan) -> Iterator[tuple[Ints, torch.optim.Optimizer]]:
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


def description_length(train: Instances, plan: ProbePlan, code: Code) -> float:
    """How many bits all labels take together."""
    whole = train.scaled(plan.seed)
    return _online(whole, plan) if code == "online" else _variational(whole, plan)


def _online(train: Instances, plan: ProbePlan) -> float:
    """The labels in portions, in an order that the seed decides."""
    order = np.random.default_rng([plan.seed, 1]).permutation(len(train))
    edges = sorted({max(1, round(share * len(train))) for share in PORTIONS})
    total = edges[0] * float(np.log2(max(2, plan.classes)))
    for known, until in pairwise(edges):
        probe = fit(train.some(order[:known]), plan)
        total += float(probe.answers(train.some(order[known:until]))[0].sum())
    return total


def _variational(train: Instances, plan: ProbePlan) -> float:
    """A Gaussian for every weight of a linear probe, each with the same prior as a trained probe has."""
    base = Probe(train, plan)
    noise = torch.Generator().manual_seed(plan.seed)
    size = base.matrices[0].shape[1]
    layer = _Gaussian(size, plan.classes)
    for chosen, optimizer in _steps(layer, train, plan):
        x = _standard(base, train, chosen)
        loss = nn.functional.cross_entropy(layer(x, noise), torch.from_numpy(train.labels[chosen]))
        torch.autograd.backward(loss + layer.divergence() / len(train))
        optimizer.step()
    with torch.no_grad():
        wrong = 0.0
        for chosen in np.array_split(np.arange(len(train)), max(1, len(train) // 4096)):
            labels = torch.from_numpy(train.labels[chosen])
            logits = layer(_standard(base, train, chosen), noise)
            wrong += float(nn.functional.cross_entropy(logits, labels, reduction="sum"))
        return (wrong + float(layer.divergence())) / _LN2


def _standard(base: Probe, given: Instances, chosen: Ints) -> Tensor:
    return ((given.at(chosen) - base.mean) / base.spread)[:, 0]


class _Gaussian(nn.Module):
    """A linear layer of Gaussian weights; its outputs are drawn, not its weights (Kingma et al., 2015)."""

    def __init__(self, size: int, classes: int) -> None:
        super().__init__()
        self.mean = nn.Parameter(torch.zeros(classes, size + 1))
        self.log_variance = nn.Parameter(torch.full((classes, size + 1), -4.0))

    def forward(self, x: Tensor, noise: torch.Generator) -> Tensor:
        x = nn.functional.pad(x, (0, 1), value=1.0)
        variance = (x**2) @ self.log_variance.exp().T
        return x @ self.mean.T + variance.sqrt() * torch.randn(variance.shape, generator=noise)

    def divergence(self) -> Tensor:
        """KL from the standard normal prior, in nats."""
        return (self.log_variance.exp() + self.mean**2 - 1 - self.log_variance).sum() / 2
