"""What a decomposable attention model is made of."""

from __future__ import annotations

from typing import Any

from transformers import PretrainedConfig


class DecomposableConfig(PretrainedConfig):  # type: ignore[misc]
    """The sizes are those of Parikh et al.: 200 states and dropout of 0.2."""

    model_type = "decomposable_attention"

    def __init__(
        self,
        vocab_size: int = 5,
        embedding_size: int = 50,
        hidden_size: int = 200,
        dropout: float = 0.2,
        pad_token_id: int = 0,
        **more: Any,
    ) -> None:
        self.vocab_size, self.embedding_size, self.hidden_size = vocab_size, embedding_size, hidden_size
        self.dropout = dropout
        super().__init__(pad_token_id=pad_token_id, **more)
