"""What is left of the gradients of rows: all of them, their lengths, a random projection, or products with vectors.

Each is taken in two ways that agree: from what the layers add (see `row_terms`), where no gradient is written out, and
from a gradient that is there whole, for models whose rows do not go together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeAlias

import torch
from torch import Tensor

from assay.models.transformers.row_terms import Places, Term
from assay.questions.parameters import Reduce

_NARROW = 16
Shapes: TypeAlias = tuple[tuple[int, ...], ...]  # of the parameters, each as a matrix or a vector


class Reduction(Protocol):
    """Of gradients [rows, parameters] to [rows, numbers]; `logits` are those of the rows."""

    def of_terms(self, terms: Mapping[str, Term], logits: Tensor) -> Tensor: ...
    def of_whole(self, gradients: Tensor, logits: Tensor) -> Tensor: ...
    def held(self, sizes: Sequence[int]) -> int:
        """How many numbers a row takes on the way, of parameters of these sizes."""
        ...


class Whole:
    """All of it."""

    def of_terms(self, terms: Mapping[str, Term], logits: Tensor) -> Tensor:
        return torch.cat([term.whole() for term in terms.values()], dim=1)

    def of_whole(self, gradients: Tensor, logits: Tensor) -> Tensor:
        return gradients

    def held(self, sizes: Sequence[int]) -> int:
        return sum(sizes)


class Norm:
    """The length, [rows, 1]."""

    def of_terms(self, terms: Mapping[str, Term], logits: Tensor) -> Tensor:
        return torch.stack([term.squares() for term in terms.values()]).sum(dim=0).sqrt()[:, None]

    def of_whole(self, gradients: Tensor, logits: Tensor) -> Tensor:
        found: Tensor = torch.linalg.vector_norm(gradients, dim=1, keepdim=True)
        return found

    def held(self, sizes: Sequence[int]) -> int:
        return 0


@dataclass(frozen=True)
class Sketch:
    """A count sketch of all parameters, in which the place of a number of a matrix is the sum of two places."""

    shapes: Shapes
    size: int
    seed: int

    def of_terms(self, terms: Mapping[str, Term], logits: Tensor) -> Tensor:
        drawn = _on(next(iter(terms.values())).device, self.shapes, self.size, self.seed)
        parts = [term.sketched(places) for term, places in zip(terms.values(), drawn, strict=True)]
        found: Tensor = torch.fft.irfft(torch.stack(parts).sum(dim=0), n=self.size, dim=-1)
        return found

    def of_whole(self, gradients: Tensor, logits: Tensor) -> Tensor:
        bucket, sign = (part.to(gradients.device) for part in _written_out(self.shapes, self.size, self.seed))
        signed = gradients * sign  # no coarser than the signs, which are float32
        return signed.new_zeros(len(signed), self.size).index_add_(1, bucket, signed)

    def held(self, sizes: Sequence[int]) -> int:
        return 0


@dataclass(frozen=True, eq=False)
class Dotted:
    """Products with vectors [n, parameters], [rows, n]."""

    directions: Tensor

    def of_terms(self, terms: Mapping[str, Term], logits: Tensor) -> Tensor:
        """With one vector no gradient is written out; with many, that is less work."""
        parts = torch.split(self.directions, [term.numbers for term in terms.values()], dim=1)
        pairs = zip(terms.values(), parts, strict=True)
        if len(self.directions) > 1:
            return torch.stack([term.whole() @ part.T for term, part in pairs]).sum(dim=0)
        same = torch.zeros(len(logits), dtype=torch.long, device=logits.device)
        return torch.stack([one.sum(dim=1) for term, part in pairs for one in term.dotted(part, same)]).sum(dim=0)[
            :, None
        ]

    def of_whole(self, gradients: Tensor, logits: Tensor) -> Tensor:
        return gradients @ self.directions.T

    def held(self, sizes: Sequence[int]) -> int:
        return max(sizes) if len(self.directions) > 1 else 0  # one parameter's after the other's


@dataclass(frozen=True, eq=False)
class ByPiece:
    """The product of each row with its own vector, piece by piece, and what belongs to no piece [rows, pieces + 1].

    `whose` of the directions it is. A layer that reads every piece once, or several times, adds to the pieces; one that
    reads a pooled state does not.
    """

    directions: Tensor
    whose: Tensor
    pieces: int

    def of_terms(self, terms: Mapping[str, Term], logits: Tensor) -> Tensor:
        found = logits.new_zeros(len(logits), self.pieces + 1)
        parts = torch.split(self.directions, [term.numbers for term in terms.values()], dim=1)
        for term, part in zip(terms.values(), parts, strict=True):
            for one in term.dotted(part, self.whose):
                if one.shape[1] % self.pieces:
                    found[:, -1] += one.sum(dim=1)
                else:
                    found[:, :-1] += one.reshape(len(one), -1, self.pieces).sum(dim=1)
        return found

    def of_whole(self, gradients: Tensor, logits: Tensor) -> Tensor:
        """Of a gradient that is written out the pieces are not known."""
        nothing = gradients.new_zeros(len(gradients), self.pieces)
        return torch.cat([nothing, (gradients * self.directions[self.whose]).sum(dim=1, keepdim=True)], dim=1)

    def held(self, sizes: Sequence[int]) -> int:
        return 0


@dataclass(frozen=True)
class WithChances:
    """Something of them, and the probabilities of the labels."""

    kept: Reduction

    def of_terms(self, terms: Mapping[str, Term], logits: Tensor) -> Tensor:
        return torch.cat([self.kept.of_terms(terms, logits), logits.softmax(dim=-1)], dim=1)

    def of_whole(self, gradients: Tensor, logits: Tensor) -> Tensor:
        return torch.cat([self.kept.of_whole(gradients, logits), logits.softmax(dim=-1)], dim=1)

    def held(self, sizes: Sequence[int]) -> int:
        return self.kept.held(sizes)


def reduction(reduce: Reduce, size: int, seed: int, chances: bool, parameters: Mapping[str, Tensor]) -> Reduction:
    if chances:
        return WithChances(reduction(reduce, size, seed, False, parameters))
    match reduce:
        case "whole":
            return Whole()
        case "norm":
            return Norm()
        case "project":
            return Sketch(tuple(_shape(one) for one in parameters.values()), size, seed)


def _shape(parameter: Tensor) -> tuple[int, ...]:
    """A narrow matrix is taken as a vector: written out it is small, and its places then fall together less often."""
    if parameter.dim() == 1:
        return (len(parameter),)
    rows, columns = len(parameter), parameter[0].numel()
    return (rows, columns) if min(rows, columns) > _NARROW else (rows * columns,)


@lru_cache(maxsize=2)
def _drawn(shapes: Shapes, size: int, seed: int) -> list[tuple[Places, ...]]:
    """For each parameter the places of its dimensions; drawn on the CPU, the same on every device."""
    generator = torch.Generator().manual_seed(seed)

    def places(count: int) -> Places:
        bucket = torch.randint(size, (count,), generator=generator)
        return Places(bucket, torch.randint(2, (count,), generator=generator).mul_(2).sub_(1).float(), size)

    return [tuple(places(count) for count in shape) for shape in shapes]


@lru_cache(maxsize=2)
def _on(device: torch.device, shapes: Shapes, size: int, seed: int) -> list[tuple[Places, ...]]:
    return [tuple(one.to(device) for one in places) for places in _drawn(shapes, size, seed)]


@lru_cache(maxsize=2)
def _written_out(shapes: Shapes, size: int, seed: int) -> tuple[Tensor, Tensor]:
    """The place and the sign of every single number."""
    buckets, signs = [], []
    for places in _drawn(shapes, size, seed):
        bucket, sign = places[0].bucket, places[0].sign
        for other in places[1:]:
            bucket = ((bucket[:, None] + other.bucket) % size).flatten()
            sign = (sign[:, None] * other.sign).flatten()
        buckets.append(bucket)
        signs.append(sign)
    return torch.cat(buckets), torch.cat(signs)
