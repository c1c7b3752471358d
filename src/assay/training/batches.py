"""Batches by length: texts as token ids, put together with others of about their length so that little is padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.errors import BadInput
from assay.text.text import Row

_POOL = 50  # so many batches are sorted by length together; more would make the order of the texts less random


def rows_of(texts: Sequence[str | Row], labels: Sequence[str]) -> list[Row]:
    """Texts as tuples of one string or of two; every one needs a label."""
    if len(texts) != len(labels) or not texts:
        raise BadInput(f"every text needs one label; there are {len(texts)} texts and {len(labels)} labels.")
    return [(text,) if isinstance(text, str) else tuple(text) for text in texts]


@dataclass(frozen=True)
class Rows:
    """Encoded texts and the numbers of their labels."""

    encoded: list[dict[str, list[int]]]
    labels: list[int]
    tokenizer: Any

    @classmethod
    def of(cls, texts: Sequence[Row], labels: Sequence[int], tokenizer: Any, width: int) -> Rows:
        """Texts of one string or of two, cut to `width` tokens."""
        if len({len(row) for row in texts}) != 1 or len(texts[0]) > 2:
            raise BadInput("the texts to learn from must all be single strings, or all be pairs.")
        if tokenizer.pad_token is None:
            raise BadInput(
                "this tokenizer has no padding token; set tokenizer.pad_token, and the model's pad_token_id."
            )
        read = tokenizer(*map(list, zip(*texts, strict=True)), truncation=True, max_length=width)
        names = [name for name in read if name in tokenizer.model_input_names]
        encoded = [dict(zip(names, row, strict=True)) for row in zip(*(read[name] for name in names), strict=True)]
        return cls(encoded, list(labels), tokenizer)

    def epoch(self, size: int, rng: np.random.Generator) -> list[list[int]]:
        """All rows once, in batches of `size` (the last may be smaller)."""
        order = rng.permutation(len(self.encoded)).tolist()
        pools = (order[i : i + size * _POOL] for i in range(0, len(order), size * _POOL))
        batches = [batch for pool in pools for batch in self._by_length(pool, size)]
        return [batches[i] for i in rng.permutation(len(batches))]

    def batch(self, chosen: Sequence[int], device: Any) -> tuple[dict[str, Tensor], Tensor]:
        """These rows, padded to the longest of them, and their labels."""
        padded = self.tokenizer.pad([self.encoded[i] for i in chosen], return_tensors="pt")
        labels = torch.tensor([self.labels[i] for i in chosen], device=device)
        return {name: tensor.to(device) for name, tensor in padded.items()}, labels

    def _by_length(self, pool: Sequence[int], size: int) -> Iterator[list[int]]:
        ordered = sorted(pool, key=lambda i: len(self.encoded[i]["input_ids"]))
        return (ordered[i : i + size] for i in range(0, len(ordered), size))
