"""What probes learn from: rows of hidden states, all layers side by side, with their labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from assay.statistics.arrays import Ints
from assay.storage.state_file import StateFile

_STANDARDIZED_BY = 20_000  # rows that mean and spread are estimated from
_AT_ONCE = 2**22  # numbers that are read at once: 16 MiB, and a few times that while they are worked on


@dataclass(frozen=True)
class Instances:
    """Rows of one or two words each [n, places] in the states, and one or more labels of each [sets, n]; -1: unknown.

    The labels of several sets are learned side by side from the same vectors, as those of a task and of its control.
    """

    states: StateFile
    rows: Ints
    labels: Ints
    scale: tuple[Tensor, Tensor] | None = None  # mean and spread of the vectors [layers, size], where they are known

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def sets(self) -> int:
        return len(self.labels)

    def at(self, chosen: Ints) -> Tensor:
        """Their vectors, places side by side [layers, n, size], standardized where the scale is known."""
        halves, scales = self.states.halves(self.rows[chosen].reshape(-1))
        x = torch.from_numpy(halves).float().mul_(torch.from_numpy(scales)[:, :, None])
        places = self.rows.shape[1]
        x = x.view(len(chosen), places, self.states.layers, -1).permute(2, 0, 1, 3).reshape(x.shape[1], len(chosen), -1)
        if self.scale is None:
            return x
        mean, spread = self.scale
        return x.sub_(mean[:, None]).div_(spread[:, None])

    def labels_at(self, chosen: Ints) -> Tensor:
        """Their labels [sets, n]."""
        return torch.from_numpy(self.labels[:, chosen])

    def some(self, chosen: Ints) -> Instances:
        """Some of them; standardized as all are, which takes no label to know."""
        return replace(self, rows=self.rows[chosen], labels=self.labels[:, chosen])

    def first_set(self) -> Instances:
        """The same with the first set of labels alone."""
        return replace(self, labels=self.labels[:1])

    def parts(self, chosen: Ints | None = None) -> Iterator[Ints]:
        """All of them, or those that are chosen, as many at once as is well for memory."""
        rows = np.arange(len(self)) if chosen is None else chosen
        most = max(1, _AT_ONCE // (self.states.layers * self.states.size * self.rows.shape[1]))
        yield from np.array_split(rows, max(1, -(-len(rows) // most)))

    def scaled(self, seed: int) -> Instances:
        """The same with the mean and the spread of its vectors; directions without spread are not blown up."""
        if self.scale is not None:
            return self
        drawn = np.sort(np.random.default_rng([seed, 2]).permutation(len(self))[:_STANDARDIZED_BY])
        total, squares = (torch.zeros((), dtype=torch.float64) for _ in range(2))
        parts = list(self.parts(drawn))
        first = self.at(parts[0]).mean(dim=1, keepdim=True)  # near the mean, so that squares stay small
        for chosen in parts:
            x = self.at(chosen).sub_(first)
            total, squares = total + x.sum(dim=1), squares + x.square_().sum(dim=1)
        mean = total / len(drawn)
        spread = (squares / len(drawn) - mean.square()).clamp_min(0).sqrt().float()
        least = spread.mean(dim=1, keepdim=True).clamp_min(1e-12) * 1e-3
        return replace(self, scale=((mean + first[:, 0]).float(), spread.clamp_min(least)))
