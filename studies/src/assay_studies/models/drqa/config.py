"""What a reader after DrQA is made of."""

from __future__ import annotations

from typing import Any

from transformers import PretrainedConfig


class DrqaConfig(PretrainedConfig):  # type: ignore[misc]
    """Smaller than the original, which has three layers of 128 states in each direction.

    `special_tokens` is how many ids, from 0 on, are no words: two of them are not taken for the same word.
    """

    model_type = "drqa"

    def __init__(
        self,
        vocab_size: int = 5,
        embedding_size: int = 50,
        hidden_size: int = 96,
        layers: int = 1,
        dropout: float = 0.3,
        special_tokens: int = 4,
        pad_token_id: int = 0,
        **more: Any,
    ) -> None:
        self.vocab_size, self.embedding_size, self.hidden_size = vocab_size, embedding_size, hidden_size
        self.layers, self.dropout, self.special_tokens = layers, dropout, special_tokens
        super().__init__(pad_token_id=pad_token_id, **more)
