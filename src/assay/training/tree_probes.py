"""Linear maps under which trees are squared lengths: Hewitt and Manning (2019), doi:10.18653/v1/N19-1419.

    distance    |B (h_i - h_j)|^2  is how many edges lie between words i and j        loss: sum |difference| / n^2
    depth       |B h_i|^2          is how many edges word i is below the root         loss: sum |difference| / n

Mean over the sentences of a batch. B starts uniform in +-0.05, as in the released code; Adam goes down to a learning
rate of 0, where theirs halves it by a dev set. States are divided by their root mean square, so that a rate suits all.
The maps of all layers, for the trees and for others of the same words, are trained on the same batches in one pass;
each is what it would be alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.statistics.arrays import Floats, Ints
from assay.storage.state_file import StateFile

Wanted = np.ndarray[Any, np.dtype[np.float32]]
_BATCH, _RATE, _START = 20, 5e-3, 0.05


@dataclass(frozen=True)
class TreeTask:
    """Sentences as ranges of rows in the states, and for each what is to be a squared length, in one or more sets.

    That is [sets, n, n] for distances and [sets, n] for depths.
    """

    places: Sequence[tuple[int, int]]
    wanted: Sequence[Wanted]

    @property
    def pairs(self) -> bool:
        return self.wanted[0].ndim == 3

    @property
    def sets(self) -> int:
        return len(self.wanted[0])


@dataclass(frozen=True)
class TreeMaps:
    """Maps B for each layer and set [layers, sets, rank, size], of states divided by a number a layer [layers]."""

    matrices: Tensor
    scales: Tensor

    def lengths(self, states: StateFile, places: Sequence[tuple[int, int]], pairs: bool) -> list[Tensor]:
        """For each sentence squared lengths [layers, sets, n], or squared distances [layers, sets, n, n]."""
        rows = np.concatenate([np.arange(start, end) for start, end in places])
        mapped = (_vectors(states, rows) / self.scales[:, None, None])[:, None] @ self.matrices.transpose(2, 3)
        return [_lengths(one, pairs) for one in torch.split(mapped, [end - start for start, end in places], dim=2)]


def fit_tree_maps(states: StateFile, task: TreeTask, *, rank: int, epochs: float, steps: int, seed: int) -> TreeMaps:
    """A map for every layer and every set."""
    rng, size = np.random.default_rng(seed), states.size
    first = [np.arange(*task.places[i]) for i in rng.permutation(len(task.places))[:200]]
    scales = torch.stack([_vectors(states, rows).square().mean(dim=(1, 2)) for rows in first]).mean(dim=0).sqrt()
    drawn = torch.from_numpy(rng.uniform(-_START, _START, (min(rank, size), size)).astype(np.float32))
    matrices = torch.nn.Parameter(drawn.expand(states.layers, task.sets, *drawn.shape).clone())
    maps = TreeMaps(matrices, torch.where(scales > 0, scales, 1.0))
    optimizer = torch.optim.Adam([matrices], lr=_RATE)
    count = max(steps, int(epochs * len(task.places) / _BATCH))
    order: list[int] = []
    for step in range(count):
        if len(order) < _BATCH:
            order += rng.permutation(len(task.places)).tolist()
        chosen, order = order[:_BATCH], order[_BATCH:]
        optimizer.param_groups[0]["lr"] = _RATE * (1 - step / count)
        optimizer.zero_grad()
        torch.autograd.backward(_loss(maps, states, task, chosen))
        optimizer.step()
    return TreeMaps(matrices.detach(), maps.scales)


def _loss(maps: TreeMaps, states: StateFile, task: TreeTask, chosen: Sequence[int]) -> Tensor:
    """The sum over maps; in each, every sentence counts once."""
    found = maps.lengths(states, [task.places[i] for i in chosen], task.pairs)
    losses = [
        (one - torch.from_numpy(task.wanted[i])).abs().flatten(2).mean(dim=2).sum()
        for one, i in zip(found, chosen, strict=True)
    ]
    return torch.stack(losses).mean()


def _vectors(states: StateFile, rows: Ints) -> Tensor:
    """[layers, rows, size]"""
    halves, scales = states.halves(rows)
    return torch.from_numpy(halves).float().mul_(torch.from_numpy(scales)[:, :, None]).transpose(0, 1)


def _lengths(mapped: Tensor, pairs: bool) -> Tensor:
    own = mapped.square().sum(dim=3)
    return own[..., None] + own[..., None, :] - 2 * mapped @ mapped.transpose(2, 3) if pairs else own


@torch.no_grad()
def squared_lengths(maps: TreeMaps, states: StateFile, task: TreeTask) -> list[Floats]:
    """What the maps say of each sentence [layers, sets, n] or [layers, sets, n, n]."""
    return [maps.lengths(states, [place], task.pairs)[0].double().numpy() for place in task.places]
