"""What our own small models share: word vectors first, two texts in one row, and the names that transformers wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from assay.questions.base import Question
from assay.questions.inside import Attention, Hidden, Relevance, ValueZeroing
from assay.questions.interventions import Adversary, Intervene

# What is asked of transformers alone: these models have no layers of attention to look into.
CLOSED: frozenset[type[Question]] = frozenset({Adversary, Attention, Hidden, Intervene, Relevance, ValueZeroing})


class Small(PreTrainedModel):  # type: ignore[misc]
    """A network whose first layer, `embedding`, gives words their vectors."""

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


@dataclass(frozen=True)
class Stretch:
    """Where one text of each row begins, and how many tokens it has."""

    start: Tensor
    size: Tensor

    @property
    def there(self) -> Tensor:
        """True at the tokens of each text [n, longest]."""
        return self._places < self.size[:, None]

    @property
    def _places(self) -> Tensor:
        return torch.arange(int(self.size.max().clamp_min(1)), device=self.size.device)

    def take(self, rows: Tensor) -> Tensor:
        """The text out of each row [n, length] or [n, length, size], zero behind its end."""
        at = (self.start[:, None] + self._places).clamp_max(rows.shape[1] - 1)
        if rows.dim() == 2:
            return rows.gather(1, at) * self.there
        return rows.gather(1, at[:, :, None].expand(-1, -1, rows.shape[2])) * self.there[:, :, None]

    def put(self, numbers: Tensor, length: int) -> Tensor:
        """Numbers of the text's tokens [n, longest] at their places in the rows [n, length], zero elsewhere."""
        at = torch.arange(length, device=numbers.device) - self.start[:, None]
        inside = (at >= 0) & (at < self.size[:, None])
        return numbers.gather(1, at.clamp(0, numbers.shape[1] - 1)) * inside


def stretches(ids: Tensor, mask: Tensor | None, types: Tensor | None) -> tuple[Stretch, Stretch]:
    """The first and the second text of each row; without types all is the first."""
    there = torch.ones_like(ids) if mask is None else mask
    first = there.sum(dim=1) if types is None else ((1 - types) * there).sum(dim=1)
    return Stretch(torch.zeros_like(first), first), Stretch(first, there.sum(dim=1) - first)
