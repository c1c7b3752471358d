"""Token rows and full batches: sorted by length within a large random chunk, padded to the longest row of the batch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from transformers import BertTokenizer

CHUNK = 50


@dataclass(frozen=True)
class Rows:
    """Encoded texts or pairs and what is to be predicted of each (a label, or a start and an end)."""

    ids: list[list[int]]
    types: list[list[int]]
    targets: Tensor

    def __len__(self) -> int:
        return len(self.ids)

    def batch(self, chosen: Sequence[int], device: str) -> dict[str, Tensor]:
        """Padded model inputs for some rows."""
        width = -(-max(len(self.ids[i]) for i in chosen) // 8) * 8
        ids = torch.tensor([padded(self.ids[i], width) for i in chosen])
        types = torch.tensor([padded(self.types[i], width) for i in chosen])
        inputs = {"input_ids": ids, "attention_mask": (ids != 0).long(), "token_type_ids": types}
        return {name: tensor.to(device, non_blocking=True) for name, tensor in inputs.items()}


def padded(row: list[int], width: int) -> list[int]:
    """A row filled with zeros, which is the id of [PAD]."""
    return row + [0] * (width - len(row))


def encode(tokenizer: BertTokenizer, texts: Sequence[tuple[str, ...]], targets: Sequence[int], width: int) -> Rows:
    """Tokenise texts (or pairs) and cut them to `width` pieces."""
    columns = [list(column) for column in zip(*texts, strict=True)]
    coded = tokenizer(*columns, truncation=True, max_length=width)
    return Rows(coded["input_ids"], coded["token_type_ids"], torch.tensor(targets))


def shuffled(rows: Rows, size: int, rng: np.random.Generator) -> Iterator[list[int]]:
    """One epoch of batches of similar length, in random order."""
    order = rng.permutation(len(rows))
    chunks = [order[i : i + CHUNK * size] for i in range(0, len(order), CHUNK * size)]
    by_length = [sorted(chunk.tolist(), key=lambda i: len(rows.ids[i])) for chunk in chunks]
    batches = [chunk[i : i + size] for chunk in by_length for i in range(0, len(chunk), size)]
    yield from (batches[i] for i in rng.permutation(len(batches)))


def in_order(rows: Rows, size: int) -> Iterator[list[int]]:
    """Batches for scoring, longest rows first."""
    order = sorted(range(len(rows)), key=lambda i: -len(rows.ids[i]))
    yield from (order[i : i + size] for i in range(0, len(order), size))
