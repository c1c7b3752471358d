"""What a layer adds to the gradient of one parameter, row by row, and what is kept of it without writing it out.

    Outer     sum over pieces of left right'     the weight of a linear layer: derivative and input
    OneHot    the same, left being the piece     an embedding
    Plain     sum over pieces of a vector        a bias, a layer norm
    Both      of two of them                     a weight with two places, such as embeddings that are tied

`whole` writes the gradient out, [rows, numbers]. `squares` is its squared length: of pieces t and s that is the sum of
(left_t . left_s) (right_t . right_s), which for short texts is less work than the gradient itself (Goodfellow 2015,
arXiv:1510.01799). `sketched` is its random projection: a count sketch whose place for the number (i, j) is the sum of
a place for i and one for j is the convolution of two small sketches (Pham and Pagh 2013, doi:10.1145/2487575.2487591),
a product of their Fourier transforms; sums over pieces, layers and parameters are taken there. A parameter that has one
set of places for all its numbers is written out first. `dotted` is the product of each row with the vector that is
named for it, piece by piece: as the gradient is a sum over pieces, so is the product.
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
    @property
    def numbers(self) -> int:
        """How many the parameter has."""
        ...

    def whole(self) -> Tensor: ...
    def squares(self) -> Tensor: ...
    def sketched(self, places: tuple[Places, ...]) -> Tensor: ...
    def dotted(self, directions: Tensor, whose: Tensor) -> list[Tensor]:
        """With vectors [n, numbers], `whose` [rows] of them: [rows, pieces], of each place that the parameter has."""
        ...


@dataclass(frozen=True, eq=False)
class Outer:
    """[rows, pieces, left] and [rows, pieces, right]."""

    left: Tensor
    right: Tensor

    @property
    def device(self) -> torch.device:
        return self.left.device

    @property
    def numbers(self) -> int:
        return self.left.shape[2] * self.right.shape[2]

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

    def dotted(self, directions: Tensor, whose: Tensor) -> list[Tensor]:
        matrices = directions.view(-1, self.left.shape[2], self.right.shape[2])
        found = torch.empty_like(self.right)
        for number in set(whose.tolist()):
            found[whose == number] = self.left[whose == number] @ matrices[number]
        return [(found * self.right).sum(dim=2)]

    def at(self, ids: Tensor) -> Tensor:
        """What left has at these places [rows, pieces, ids]."""
        return self.left.gather(2, ids[:, None, :].expand(-1, self.left.shape[1], -1))


@dataclass(frozen=True, eq=False)
class OneHot:
    """The pieces [rows, pieces] out of `count`, and [rows, pieces, right]."""

    ids: Tensor
    count: int
    right: Tensor

    @property
    def device(self) -> torch.device:
        return self.right.device

    @property
    def numbers(self) -> int:
        return self.count * self.right.shape[2]

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

    def dotted(self, directions: Tensor, whose: Tensor) -> list[Tensor]:
        tables = directions.view(-1, self.count, self.right.shape[2])
        return [(tables[whose[:, None], self.ids] * self.right).sum(dim=2)]

    def at(self, ids: Tensor) -> Tensor:
        return (self.ids[:, :, None] == ids[:, None, :]).to(self.right.dtype)


@dataclass(frozen=True, eq=False)
class Plain:
    """[rows, pieces, numbers], each multiplied with `by` where that is given."""

    values: Tensor
    by: Tensor | None = None

    @property
    def device(self) -> torch.device:
        return self.values.device

    @property
    def numbers(self) -> int:
        return self.values.shape[2]

    def _each(self) -> Tensor:
        return self.values if self.by is None else self.values * self.by

    def whole(self) -> Tensor:
        return self._each().sum(dim=1)

    def squares(self) -> Tensor:
        return self.whole().square().sum(dim=1)

    def sketched(self, places: tuple[Places, ...]) -> Tensor:
        (only,) = places
        return only.spectrum(self.whole())

    def dotted(self, directions: Tensor, whose: Tensor) -> list[Tensor]:
        return [torch.einsum("rpk,rk->rp", self._each(), directions[whose])]


@dataclass(frozen=True, eq=False)
class Both:
    """What two places of one parameter add; three are two and one."""

    first: Term
    second: Term

    @property
    def device(self) -> torch.device:
        return self.first.device

    @property
    def numbers(self) -> int:
        return self.first.numbers

    def whole(self) -> Tensor:
        return self.first.whole() + self.second.whole()

    def squares(self) -> Tensor:
        if isinstance(self.first, Outer | OneHot) and isinstance(self.second, Outer | OneHot):
            return (self.first.squares() + self.second.squares() + 2 * _crossed(self.first, self.second)).clamp_min(0)
        return self.whole().square().sum(dim=1)

    def sketched(self, places: tuple[Places, ...]) -> Tensor:
        return self.first.sketched(places) + self.second.sketched(places)

    def dotted(self, directions: Tensor, whose: Tensor) -> list[Tensor]:
        return [*self.first.dotted(directions, whose), *self.second.dotted(directions, whose)]


def _crossed(one: Outer | OneHot, other: Outer | OneHot) -> Tensor:
    """The product of what two places add, row by row: sum over pieces t and s, as for the squares."""
    if isinstance(other, OneHot):
        lefts = one.at(other.ids)
    elif isinstance(one, OneHot):
        lefts = other.at(one.ids).transpose(1, 2)
    else:
        lefts = one.left @ other.left.transpose(1, 2)
    return (lefts * (one.right @ other.right.transpose(1, 2))).sum(dim=(1, 2))


def _gram(vectors: Tensor) -> Tensor:
    """The products of the vectors of each row, piece by piece."""
    return vectors @ vectors.transpose(1, 2)
