"""Two texts in one row of tokens: where each of them lies."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Stretch:
    """Where one text of each row begins, and how many tokens it has."""

    start: Tensor
    size: Tensor

    @property
    def there(self) -> Tensor:
        """True at the tokens of each text [n, longest]."""
        return self._places < self.size[:, None]

    @property
    def _places(self) -> Tensor:
        return torch.arange(int(self.size.max().clamp_min(1)), device=self.size.device)

    def take(self, rows: Tensor) -> Tensor:
        """The text out of each row [n, length] or [n, length, size], zero behind its end."""
        at = (self.start[:, None] + self._places).clamp_max(rows.shape[1] - 1)
        if rows.dim() == 2:
            return rows.gather(1, at) * self.there
        return rows.gather(1, at[:, :, None].expand(-1, -1, rows.shape[2])) * self.there[:, :, None]

    def put(self, numbers: Tensor, length: int) -> Tensor:
        """Numbers of the text's tokens [n, longest] at their places in the rows [n, length], zero elsewhere."""
        at = torch.arange(length, device=numbers.device) - self.start[:, None]
        inside = (at >= 0) & (at < self.size[:, None])
        return numbers.gather(1, at.clamp(0, numbers.shape[1] - 1)) * inside


def stretches(ids: Tensor, mask: Tensor | None, types: Tensor | None) -> tuple[Stretch, Stretch]:
    """The first and the second text of each row; without types all is the first."""
    there = torch.ones_like(ids) if mask is None else mask
    first = there.sum(dim=1) if types is None else ((1 - types) * there).sum(dim=1)
    return Stretch(torch.zeros_like(first), first), Stretch(first, there.sum(dim=1) - first)
