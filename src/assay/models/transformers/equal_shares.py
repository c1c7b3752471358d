"""EqualShares: of every parameter the mean squared length of its gradients over the training texts.

In an encoder that is trained whole, a vector that every piece reads (the token types of a BERT) has a gradient that is
summed over all pieces: 384 of 22 million numbers, and more than a third of the squared length. Divided by its mean,
each parameter has the same share in the products.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from assay.models.transformers.parameters import RowGradients
from assay.models.transformers.row_outputs import EncodedTarget
from assay.models.transformers.row_terms import Term

_ROUNDING = 1e-9  # of the whole squared length


@dataclass(frozen=True)
class Squares:
    """The squared length of each parameter's gradient [rows, parameters]. A reduction of row gradients."""

    sizes: Sequence[int]

    def of_terms(self, terms: Mapping[str, Term], logits: Tensor) -> Tensor:
        return torch.stack([term.squares() for term in terms.values()], dim=1)

    def of_whole(self, gradients: Tensor, logits: Tensor) -> Tensor:
        parts = torch.split(gradients, list(self.sizes), dim=1)
        return torch.stack([part.square().sum(dim=1) for part in parts], dim=1)

    def held(self, sizes: Sequence[int]) -> int:
        return 0


def squares(gradients: RowGradients, batches: Sequence[Sequence[EncodedTarget]]) -> Iterator[Tensor]:
    """Those of each batch [rows, parameters]."""
    how = Squares(gradients.sizes)
    for batch in batches:
        yield torch.cat(list(gradients.reduced(batch, how)))


def shares(found: Tensor) -> Tensor:
    """What each parameter is multiplied with, for squares of all rows; one whose gradients are rounding alone with 0.

    The bias of attention's keys has none: it adds the same to all places, and the softmax takes it away.
    """
    mean = found.mean(dim=0)
    return torch.where(mean > _ROUNDING * mean.sum(), 1 / mean, torch.zeros_like(mean))
