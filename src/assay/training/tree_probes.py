"""Linear maps under which trees are squared lengths: Hewitt and Manning (2019), doi:10.18653/v1/N19-1419.

    distance    |B (h_i - h_j)|^2  is how many edges lie between words i and j        loss: sum |difference| / n^2
    depth       |B h_i|^2          is how many edges word i is below the root         loss: sum |difference| / n

Mean over the sentences of a batch. B starts uniform in +-0.05, as in the released code; Adam goes down to a learning
rate of 0, where theirs halves it by a dev set. States are divided by their root mean square, so that a rate suits all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.statistics.arrays import Floats

Vectors = np.ndarray[Any, np.dtype[np.float32]]
_BATCH, _RATE, _START = 20, 5e-3, 0.05


@dataclass(frozen=True)
class TreeTask:
    """Sentences as ranges of rows in the states, with what is to be a squared length: a matrix, or a row of numbers."""

    places: Sequence[tuple[int, int]]
    wanted: Sequence[Floats]

    @property
    def pairs(self) -> bool:
        return self.wanted[0].ndim == 2


def fit_tree_map(
    states: Vectors, task: TreeTask, *, rank: int, epochs: float, steps: int, seed: int
) -> tuple[Tensor, float]:
    """The map B [rank, size] for vectors divided by the number that comes with it."""
    rng, size = np.random.default_rng(seed), states.shape[1]
    first = [task.places[i] for i in rng.permutation(len(task.places))[:200]]
    scale = float(np.sqrt(np.mean([np.square(states[start:end]).mean() for start, end in first]))) or 1.0
    drawn = rng.uniform(-_START, _START, (min(rank, size), size)).astype(np.float32)
    matrix = torch.nn.Parameter(torch.from_numpy(drawn))
    optimizer = torch.optim.Adam([matrix], lr=_RATE)
    count = max(steps, int(epochs * len(task.places) / _BATCH))
    order: list[int] = []
    for step in range(count):
        if len(order) < _BATCH:
            order += rng.permutation(len(task.places)).tolist()
        chosen, order = order[:_BATCH], order[_BATCH:]
        optimizer.param_groups[0]["lr"] = _RATE * (1 - step / count)
        optimizer.zero_grad()
        torch.autograd.backward(_loss(matrix, states, task, chosen, scale))
        optimizer.step()
    return matrix.detach(), scale


def _loss(matrix: Tensor, states: Vectors, task: TreeTask, chosen: Sequence[int], scale: float) -> Tensor:
    """The words of all chosen sentences go through the map together; each sentence counts once."""
    places = [task.places[i] for i in chosen]
    given = np.concatenate([states[start:end] for start, end in places]) / scale
    mapped = torch.split(torch.from_numpy(given) @ matrix.T, [end - start for start, end in places])
    losses = [
        (_lengths(one, task.pairs) - torch.from_numpy(task.wanted[i]).float()).abs().mean()
        for one, i in zip(mapped, chosen, strict=True)
    ]
    return torch.stack(losses).mean()


def _lengths(mapped: Tensor, pairs: bool) -> Tensor:
    """Squared lengths [n], or squared distances [n, n]."""
    own = mapped.square().sum(dim=1)
    return own[:, None] + own[None] - 2 * mapped @ mapped.T if pairs else own


def squared_lengths(found: tuple[Tensor, float], states: Vectors, task: TreeTask) -> list[Floats]:
    """What the map says of each sentence."""
    matrix, scale = found
    with torch.no_grad():
        return [
            _lengths(torch.from_numpy(states[start:end] / scale) @ matrix.T, task.pairs).double().numpy()
            for start, end in task.places
        ]
