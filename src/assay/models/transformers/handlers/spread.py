"""Attention over words, in every head that is changed, and the search for adversarial weights over them.

A model with one attention is the case of one head.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.models.transformers.handlers.adversary import attack
from assay.models.transformers.inside import Inside
from assay.models.transformers.placing import Bools, Placing
from assay.questions.answers import Adversaries, Predictions
from assay.questions.interventions import AdversaryRow, InterveneAttentionRow, Search
from assay.statistics.arrays import Floats


@dataclass(frozen=True)
class Reweighted(Inside):
    """A text whose attention is changed: given weights, or a search that starts from them."""

    table: Floats | None = None  # attentions over the words [k, words], None for the model's own
    search: Search | None = None
    seed: int = 0

    @property
    def k(self) -> int:
        return self.search.k if self.search else len(self.given)

    @property
    def given(self) -> Floats:
        assert self.table is not None
        return self.table


def wanted(row: InterveneAttentionRow | AdversaryRow) -> dict[str, Any]:
    """What a row asks for, as the fields of `Reweighted`."""
    sought = {"search": row.search, "seed": row.seed} if isinstance(row, AdversaryRow) else {}
    return {"table": row.table if row.weights else None, **sought}


@dataclass(frozen=True)
class HeadSpread:
    """The way from the words of texts to their pieces, in every head."""

    ways: list[Placing]  # for each text, from its words to the mean of the chosen heads
    stays: Tensor  # [n, heads, length]
    spread: Tensor  # [n, heads, words, length]; zero in heads that stay as they are
    own: Tensor  # the model's own attention over the words, the mean of the chosen heads [n, words]
    open: Tensor  # words that can be attended to [n, words]

    @classmethod
    def of(cls, weights: Tensor, attended: Bools, rows: Sequence[Inside], heads: Sequence[int]) -> HeadSpread:
        """From the model's own weights [n, heads, length], the pieces that can have any [n, length], and the heads."""
        own, words = weights.double().cpu().numpy(), max(row.words for row in rows)
        stays, spread, means = own.copy(), np.zeros((*own.shape[:2], words, own.shape[2])), []
        for i, row in enumerate(rows):
            means.append(Placing.of(row, own[i, heads].mean(axis=0), attended[i]))
            for h in heads:
                way = Placing.of(row, own[i, h], attended[i])
                stays[i, h], spread[i, h, : row.words] = way.stays, way.spread
        alone, opened = (_padded([getattr(way, name) for way in means], words) for name in ("own", "open"))
        held, ways, own_words, opens = (torch.tensor(t).to(weights) for t in (stays, spread, alone, opened))
        return cls(means, held, ways, own_words, opens > 0)

    def words(self, tables: Sequence[Floats]) -> Tensor:
        """Weights for the words of every text [n, k, words], each summing to 1."""
        shares = [way.shares(table) for way, table in zip(self.ways, tables, strict=True)]
        return torch.tensor(_padded(shares, self.own.shape[1])).to(self.own)

    def pieces(self, weights: Tensor) -> Tensor:
        """Attention over words [n, k, words] as attention over pieces [n, k, heads, length]."""
        return self.stays[:, None] + (weights[:, None] @ self.spread).transpose(1, 2)

    def starts(self, rows: Sequence[Reweighted]) -> Tensor:
        """The attention over words that each search is to get away from [n, words]."""
        own = [way.own[None] if row.table is None else row.table for way, row in zip(self.ways, rows, strict=True)]
        given = torch.tensor([row.table is not None for row in rows], device=self.own.device)
        return torch.where(given[:, None], self.words(own)[:, 0], self.own)


def adversaries(
    logits_under: Callable[[Tensor], Tensor], spread: HeadSpread, rows: Sequence[Reweighted], multi_label: bool
) -> list[Adversaries]:
    """Adversarial attention for texts of one search; `logits_under` takes attention over pieces."""
    search = rows[0].search
    assert search is not None
    own = spread.starts(rows)

    def chances(weights: Tensor) -> Tensor:
        logits = logits_under(spread.pieces(weights))
        return logits.sigmoid() if multi_label else logits.softmax(dim=-1)

    others = attack(chances, own, spread.open, search, [row.seed for row in rows])
    weights = torch.cat([own[:, None], others], dim=1)
    logits = logits_under(spread.pieces(weights)).double().cpu().numpy()
    tables = (table[:, : row.words] for table, row in zip(weights.double().cpu().numpy(), rows, strict=True))
    return [Adversaries(table, Predictions(one, multi_label)) for table, one in zip(tables, logits, strict=True)]


def _padded(arrays: Sequence[Any], words: int) -> Floats:
    """Arrays over words, one for each text, with zeros for the words that a text does not have."""
    wide = ((*[(0, 0)] * (array.ndim - 1), (0, words - array.shape[-1])) for array in arrays)
    return np.stack([np.pad(np.asarray(a, np.float64), w) for a, w in zip(arrays, wide, strict=True)])
