"""A model whose explained number is quadratic in the embeddings, so that means over noise and paths are known."""

from __future__ import annotations

from functools import cache
from typing import Any

import tiny
import torch
from torch import Tensor, nn
from transformers.modeling_outputs import SequenceClassifierOutput


class QuadraticForSequenceClassification(nn.Module):
    """The logit of label 1 is the sum over pieces of x A x / 2 + b x; that of label 0 is nothing."""

    def __init__(self, table: Tensor, matrix: Tensor, vector: Tensor, config: Any) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding.from_pretrained(table, freeze=False)
        self.register_buffer("matrix", matrix)
        self.register_buffer("vector", vector)

    def get_input_embeddings(self) -> nn.Module:
        return self.embedding

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> SequenceClassifierOutput:
        total = (self.of(self.embedding(input_ids)) * attention_mask).sum(-1)
        return SequenceClassifierOutput(logits=torch.stack([torch.zeros_like(total), total], dim=-1))

    def of(self, x: Tensor) -> Tensor:
        """What each piece adds."""
        return (x @ self.matrix * x).sum(-1) / 2 + x @ self.vector


@cache
def quadratic() -> tuple[Any, Any]:
    """The model, in double precision, and a tokenizer that makes one piece of every word."""
    tokenizer = tiny.word_level(punctuation=True)
    chance = torch.Generator().manual_seed(5)
    table, matrix, vector = (
        torch.randn(*shape, generator=chance, dtype=torch.float64) for shape in ((len(tokenizer), 4), (4, 4), (4,))
    )
    config = tiny.BagConfig(num_labels=2, pad_token_id=tokenizer.pad_token_id, max_position_embeddings=tiny.WINDOW)
    return QuadraticForSequenceClassification(table, matrix + matrix.T, vector, config).eval(), tokenizer
