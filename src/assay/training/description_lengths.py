"""How many bits labels take with the help of probes of each layer (Voita and Titov, 2020, arXiv:2003.12298).

    online       log2 K for the first 0.1 % of the labels, then each portion by a probe of all before it
    variational  what the probe gets wrong, and the KL divergence of its weights from their prior

The released code of Voita and Titov adds natural logarithms to log2 K; here every term is divided by ln 2.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from assay.statistics.arrays import Floats
from assay.training.probe_instances import Instances
from assay.training.probes import ProbePlan, fit, loss_of, training_steps

Code = Literal["online", "variational"]
PORTIONS = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.0625, 0.125, 0.25, 0.5, 1.0)
_LN2 = float(np.log(2))


def description_lengths(train: Instances, plan: ProbePlan, code: Code) -> Floats:
    """For each layer how many bits all labels (of the first set) take together."""
    whole = train.first_set().scaled(plan.seed)
    return _online(whole, plan) if code == "online" else _variational(whole, plan)


def _online(train: Instances, plan: ProbePlan) -> Floats:
    """The labels in portions, in an order that the seed decides."""
    order = np.random.default_rng([plan.seed, 1]).permutation(len(train))
    edges = sorted({max(1, round(share * len(train))) for share in PORTIONS})
    total = np.full(train.states.layers, edges[0] * float(np.log2(max(2, plan.classes))))
    for known, until in pairwise(edges):
        probes = fit(train.some(order[:known]), plan)
        total += probes.answers(train.some(np.sort(order[known:until])))[0].sum(axis=(1, 2))
    return total


@torch.no_grad()
def _wrong(layers: Gaussians, train: Instances, noise: torch.Generator) -> Tensor:
    """The nats of all labels by layer."""
    total = torch.zeros(train.states.layers)
    for chosen in train.parts():
        logits = layers(train.at(chosen), noise)
        labels = train.labels_at(chosen).expand(len(logits), -1)
        total += -logits.log_softmax(2).gather(2, labels[..., None]).sum(dim=(1, 2))
    return total


def _variational(train: Instances, plan: ProbePlan) -> Floats:
    """A Gaussian for every weight of linear probes, each with the same prior as a trained probe has."""
    assert train.scale is not None
    noise = torch.Generator().manual_seed(plan.seed)
    count, size = train.scale[0].shape
    layers = Gaussians(count, size, plan.classes)
    for chosen, optimizer in training_steps(layers, train, plan):
        loss = loss_of(layers(train.at(chosen), noise)[:, None], train.labels_at(chosen))
        torch.autograd.backward(loss + layers.divergence().sum() / len(train))
        optimizer.step()
    bits = (_wrong(layers, train, noise) + layers.divergence().detach()) / _LN2
    return np.asarray(bits.double().numpy())


class Gaussians(nn.Module):
    """For each layer a linear map of Gaussian weights; outputs are drawn, not weights (Kingma et al., 2015)."""

    def __init__(self, layers: int, size: int, classes: int) -> None:
        super().__init__()
        self.mean = nn.Parameter(torch.zeros(layers, classes, size + 1))
        self.log_variance = nn.Parameter(torch.full((layers, classes, size + 1), -4.0))

    def forward(self, x: Tensor, noise: torch.Generator) -> Tensor:
        x = nn.functional.pad(x, (0, 1), value=1.0)
        variance = (x**2) @ self.log_variance.exp().transpose(1, 2)
        drawn = torch.randn(variance.shape, generator=noise)
        return x @ self.mean.transpose(1, 2) + variance.sqrt() * drawn

    def divergence(self) -> Tensor:
        """KL from the standard normal prior, in nats, by layer."""
        return (self.log_variance.exp() + self.mean**2 - 1 - self.log_variance).sum(dim=(1, 2)) / 2
