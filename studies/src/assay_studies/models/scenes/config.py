"""What the small visual model is made of."""

from __future__ import annotations

from typing import Any

from transformers import PretrainedConfig


class SceneConfig(PretrainedConfig):  # type: ignore[misc]
    """Images are squares of `image_size` pixels, read in patches of `patch_size`."""

    model_type = "scene"

    def __init__(
        self,
        vocab_size: int = 5,
        embedding_size: int = 32,
        hidden_size: int = 64,
        image_size: int = 36,
        patch_size: int = 12,
        pad_token_id: int = 0,
        **more: Any,
    ) -> None:
        self.vocab_size, self.embedding_size, self.hidden_size = vocab_size, embedding_size, hidden_size
        self.image_size, self.patch_size = image_size, patch_size
        super().__init__(pad_token_id=pad_token_id, **more)
