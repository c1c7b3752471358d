"""What a layer adds to the gradient of one parameter, row by row, and what is kept of it without writing it out.

    Outer     sum over pieces of left right'     the weight of a linear layer: derivative and input
    OneHot    the same, left being the piece     an embedding
    Plain     a vector                           a bias, a layer norm

`whole` writes the gradient out, [rows, numbers]. `squares` is its squared length: of pieces t and s that is the sum of
(left_t . left_s) (right_t . right_s), which for short texts is less work than the gradient itself (Goodfellow 2015,
arXiv:1510.01799). `sketched` is its random projection: a count sketch whose place for the number (i, j) is the sum of
a place for i and one for j is the convolution of two small sketches (Pham and Pagh 2013, doi:10.1145/2487575.2487591),
a product of their Fourier transforms; sums over pieces, layers and parameters are taken there. A parameter that has one
set of places for all its numbers is written out first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

_MOST = 1 << 24  # numbers of the gradients that are written out at once for their lengths


@dataclass(frozen=True, eq=False)
class Places:
    """Of one dimension of a parameter: to which of `size` sums each number goes, and with which sign."""

    bucket: Tensor
    sign: Tensor
    size: int

    def to(self, device: torch.device) -> Places:
        return Places(self.bucket.to(device), self.sign.to(device), self.size)

    def spectrum(self, values: Tensor) -> Tensor:
        """The Fourier transform of the count sketch of the last dimension [.., size / 2 + 1]."""
        flat = (values.float() * self.sign).reshape(-1, values.shape[-1]).T
        sums = flat.new_zeros(self.size, flat.shape[1]).index_add_(0, self.bucket, flat).T
        found: Tensor = torch.fft.rfft(sums.reshape(*values.shape[:-1], self.size), dim=-1)
        return found

    def spectrum_of(self, ids: Tensor) -> Tensor:
        """That of vectors with a single 1."""
        turns = self.bucket[ids][..., None] * torch.arange(self.size // 2 + 1, device=ids.device) % self.size
        angles = turns * (-2 * torch.pi / self.size)
        return torch.polar(torch.ones_like(angles), angles) * self.sign[ids][..., None]


class Term(Protocol):
    """See the module."""

    @property
    def device(self) -> torch.device: ...
    def whole(self) -> Tensor: ...
    def squares(self) -> Tensor: ...
    def sketched(self, places: tuple[Places, ...]) -> Tensor: ...


@dataclass(frozen=True, eq=False)
class Outer:
    """[rows, pieces, left] and [rows, pieces, right]."""

    left: Tensor
    right: Tensor

    @property
    def device(self) -> torch.device:
        return self.left.device

    def whole(self) -> Tensor:
        return (self.left.transpose(1, 2) @ self.right).flatten(1)

    def squares(self) -> Tensor:
        pieces, left, right = self.left.shape[1], self.left.shape[2], self.right.shape[2]
        if pieces * (left + right) < left * right:
            return (_gram(self.left) * _gram(self.right)).sum(dim=(1, 2)).clamp_min(0)
        step = max(1, _MOST // (left * right))
        parts = (slice(at, at + step) for at in range(0, len(self.left), step))
        return torch.cat([Outer(self.left[at], self.right[at]).whole().square().sum(dim=1) for at in parts])

    def sketched(self, places: tuple[Places, ...]) -> Tensor:
        if len(places) == 1:
            return places[0].spectrum(self.whole())
        left, right = places
        return (left.spectrum(self.left) * right.spectrum(self.right)).sum(dim=1)


@dataclass(frozen=True, eq=False)
class OneHot:
    """The pieces [rows, pieces] out of `count`, and [rows, pieces, right]."""

    ids: Tensor
    count: int
    right: Tensor

    @property
    def device(self) -> torch.device:
        return self.right.device

    def whole(self) -> Tensor:
        table = self.right.new_zeros(len(self.ids), self.count, self.right.shape[2])
        return table.scatter_add_(1, self.ids[:, :, None].expand_as(self.right), self.right).flatten(1)

    def squares(self) -> Tensor:
        same = self.ids[:, :, None] == self.ids[:, None, :]
        return (same * _gram(self.right)).sum(dim=(1, 2)).clamp_min(0)

    def sketched(self, places: tuple[Places, ...]) -> Tensor:
        if len(places) == 1:
            return places[0].spectrum(self.whole())
        left, right = places
        return (left.spectrum_of(self.ids) * right.spectrum(self.right)).sum(dim=1)


@dataclass(frozen=True, eq=False)
class Plain:
    """[rows, numbers]"""

    values: Tensor

    @property
    def device(self) -> torch.device:
        return self.values.device

    def whole(self) -> Tensor:
        return self.values

    def squares(self) -> Tensor:
        return self.values.square().sum(dim=1)

    def sketched(self, places: tuple[Places, ...]) -> Tensor:
        (only,) = places
        return only.spectrum(self.values)


def _gram(vectors: Tensor) -> Tensor:
    """The products of the vectors of each row, piece by piece."""
    return vectors @ vectors.transpose(1, 2)
