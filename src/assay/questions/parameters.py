"""Gradients with respect to a model's parameters, reduced where they arise, and products with its curvature.

    vectors = yield ParameterGradient(targets, layers="head")                 -> [targets, parameters]
    vectors = yield ParameterGradient(targets, layers="all", project=512)     -> [targets, 512]: random projections
    norms = yield ParameterGradient(targets, layers="all", reduce="norm")     -> [targets, 1]
    products = yield GradientProducts(target, training, inverse=Conjugate())  -> Products: one number per training text
    states = yield LastLayer(texts)                                           -> [texts, size]: what that layer reads

`layers` chooses the parameters: "head" is the last linear layer, "last:2" adds all that stands above the base model and
its two uppermost layers, "all" is all of them; anything else is a regular expression that names of parameters match.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from assay.questions.base import Aim, OneRow, Question, Speaker
from assay.statistics.arrays import Floats
from assay.text.text import Row

DRAWS = 4  # times that tokens are drawn from a language model for its curvature
Reduce: TypeAlias = Literal["whole", "project", "norm"]


class Loss(NamedTuple):
    """The cross-entropy of a label, in nats."""

    label: int


@dataclass(frozen=True)
class TokenLoss:
    """The cross-entropy of the tokens of a text, or of a continuation after its prompt, in nats: its mean or its sum.

    The strings of its target are as they were given, one or two, where those of an explained text are settled.
    """

    mean: bool = True


@dataclass(frozen=True)
class DrawnTokenLoss:
    """That of tokens which the model draws itself; of a mean, over the root of the number of tokens.

    Outer products of its gradients are, on average over draws, the Gauss-Newton matrix of TokenLoss.
    """

    mean: bool = True
    draw: int = 0


class Target(NamedTuple):
    """A text, as the model reads it, and the number whose gradient is taken."""

    strings: Row
    of: Loss | TokenLoss | DrawnTokenLoss | Aim


class GradientTarget(NamedTuple):
    """One gradient, and what is left of it."""

    target: Target
    layers: str
    reduce: Reduce
    size: int  # of a projection
    seed: int
    chances: bool

    @property
    def sequences(self) -> int:
        """How much memory its answer takes, for the engine's cache: as a row of so many plain ones."""
        return 1 + self.size // 16


class ParameterGradient(Question):
    """The gradient of each target with respect to the chosen parameters: whole, projected at random, or its norm.

    A projection is a count sketch (Charikar et al. 2002): every parameter is added, with a random sign, to one of
    `project` sums. Dot products of gradients come out right on average, and nothing as large as a gradient is kept:
    the sketch of a linear layer's gradient is taken from what the layer read and what came back to it. With `chances`
    the probabilities of the labels, known from the same pass, stand after each gradient.
    """

    backward = True
    weight = 16

    def __init__(
        self,
        targets: Sequence[Target],
        *,
        layers: str = "head",
        reduce: Reduce = "whole",
        project: int | None = None,
        seed: int = 0,
        chances: bool = False,
    ) -> None:
        self.targets, self.layers, self.seed, self.chances = targets, layers, seed, chances
        self.reduce: Reduce = reduce if project is None else "project"
        self.project = project or 0

    def rows(self, model: Speaker) -> Sequence[GradientTarget]:
        how = (self.layers, self.reduce, self.project, self.seed, self.chances)
        return [GradientTarget(one, *how) for one in self.targets]

    def assemble(self, values: Sequence[Floats], model: Speaker) -> Floats:
        return np.array(values)


class TrainingRows:
    """Training texts as the model reads them, with the numbers of their labels; equal when their contents are."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self.targets = tuple(targets)

    @cached_property
    def digest(self) -> bytes:
        return blake2b(repr(self.targets).encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def __len__(self) -> int:
        return len(self.targets)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TrainingRows) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


@dataclass(frozen=True, kw_only=True)
class Conjugate:
    """(H + damping I)^-1 by conjugate gradients; H the Hessian of the mean training loss (Koh and Liang 2017).

    Where the curvature along a direction is not positive, the damping is raised until it is.
    """

    damping: float = 0.01
    iterations: int = 50
    tolerance: float = 1e-6


@dataclass(frozen=True, kw_only=True)
class Lissa:
    """(H + damping I)^-1 by a recursion over batches of the training set (Agarwal et al. 2017); the mean of `repeat`.

    s <- v + s - (H_batch + damping I) s / scale, and s / scale at the end. Without a scale, the largest eigenvalue is
    found first and the scale is a little above it.
    """

    damping: float = 0.01
    scale: float | None = None
    depth: int = 1000
    batch: int = 16
    repeat: int = 1
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Kronecker:
    """EK-FAC: the Gauss-Newton matrix of every linear layer in the eigenbasis of its Kronecker factors.

    George et al. (2018), arXiv:1806.03884; for influence functions Grosse et al. (2023), arXiv:2308.03296. Parameters
    that belong to no linear layer have a diagonal of their own.
    """

    damping: float = 0.01


@dataclass(frozen=True)
class EqualShares:
    """No curvature: each parameter by 1 / the mean squared length of its gradients over the training texts."""


Inverse: TypeAlias = Conjugate | Lissa | Kronecker | EqualShares


class ProductsRow(NamedTuple):
    """A text and the training texts whose gradients it is multiplied with."""

    target: Target
    training: TrainingRows
    layers: str
    inverse: Inverse | None
    among: tuple[int, ...] | None
    parts: int

    @property
    def sequences(self) -> int:
        """How much memory its answer takes, for the engine's cache."""
        return 1 + (len(self.training) + 64 * self.parts) // 32


@dataclass(frozen=True)
class Products:
    """A product for each training text, and the damping that it took; of some, word by word, and of no word, last."""

    values: Floats
    damping: float
    parts: Mapping[int, Floats] = field(default_factory=dict)


class GradientProducts(OneRow):
    """g(target)' H^-1 g(training text) for all training texts; without `inverse`, the plain dot products.

    With `among` only those of these training texts, and 0 for the others; the curvature is still of all of them. Of so
    many texts with the lowest and the highest products as `parts` says, the product is also split among their words,
    where every layer adds to a gradient piece by piece; it is a sum over pieces, so the parts sum to it.

    The gradients stay where the model is: only the products leave.
    """

    backward = True

    def __init__(
        self,
        target: Target,
        training: TrainingRows,
        *,
        layers: str = "head",
        inverse: Inverse | None = None,
        among: tuple[int, ...] | None = None,
        parts: int = 0,
    ) -> None:
        self.row = ProductsRow(target, training, layers, inverse, among, parts)

    @classmethod
    def sequences(cls, rows: Collection[ProductsRow]) -> int:
        """The text and the training texts; those that are asked together share the gradients of the latter."""
        return sum(1 + len(row.training) for row in rows)

    def assemble(self, values: Sequence[Floats], model: Speaker) -> Products:
        """One array holds it all: the damping, the products, and for each split one its row, its size and its parts."""
        (found,), count = values, len(self.row.training)
        parts, at = {}, 1 + count
        while at < len(found):
            row, size = int(found[at]), int(found[at + 1])
            parts[row] = found[at + 2 : at + 2 + size]
            at += 2 + size
        return Products(found[1 : 1 + count], float(found[0]), parts)


class LossTokens(OneRow):
    """Of a text as it is given: how many of its tokens have a loss, and how many lie beyond the window [2]."""

    def __init__(self, strings: Row) -> None:
        self.row = strings


class LastLayer(Question):
    """What the last linear layer reads of each text, and what the model makes of it: [texts, size]."""

    def __init__(self, texts: Sequence[Row]) -> None:
        self.texts = texts

    def rows(self, model: Speaker) -> Sequence[Row]:
        return self.texts

    def assemble(self, values: Sequence[Floats], model: Speaker) -> Floats:
        return np.array(values)
