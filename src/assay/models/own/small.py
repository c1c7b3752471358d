"""What small models of our own share: word vectors first, and the names that transformers wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from torch import nn
from transformers import PreTrainedModel


class Small(PreTrainedModel):  # type: ignore[misc]
    """A network whose first layer, `embedding`, gives words their vectors; it has no layers of attention."""

    main_input_name = "input_ids"
    all_tied_weights_keys: ClassVar[dict[str, str]] = {}

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.embedding = nn.Embedding(config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id)

    def get_input_embeddings(self) -> nn.Module:
        return self.embedding

    def set_input_embeddings(self, value: nn.Embedding) -> None:
        self.embedding = value

    @property
    def stack(self) -> list[nn.Module]:
        """The layers between the embedding and the last one, from the words up, as far as they have weights."""
        between = list(self.children())[1:-1]
        return [layer for layer in between if any(True for _ in layer.parameters())]

    def _init_weights(self, module: nn.Module) -> None:
        """As torch draws them."""
        draw: Callable[[], None] | None = getattr(module, "reset_parameters", None)
        if draw is not None:
            draw()
