"""The vocabulary of a model: which tokens are text, which are whole words, and how they read."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from assay.models.transformers.network import Network
from assay.models.transformers.tasks.base import remembered


class Vocabulary:
    """Facts of every token that a model can write, as one puts it into a hole; or of as many as it reads."""

    def __init__(self, network: Network, size: int | None = None) -> None:
        self.network = network
        self._size: int = size or network.model.get_output_embeddings().weight.shape[0]
        self._words: dict[int, str] = {}

    def word(self, token: int) -> str:
        """The token as a reader would write it."""
        decode = self.network.tokenizer.decode
        return remembered(self._words, token, lambda i: str(decode([i])).removeprefix("##").strip())

    @cached_property
    def _tokens(self) -> list[str]:
        return [token or "" for token in self.network.tokenizer.convert_ids_to_tokens(list(range(self._size)))]

    @cached_property
    def text(self) -> Tensor:
        """Tokens that are text at all: no special tokens, no unused places."""
        special = set(self.network.tokenizer.all_special_tokens)
        usable = [t not in special and bool(t) and not t.startswith("[unused") for t in self._tokens]
        return torch.tensor(usable, device=self.network.device)

    @cached_property
    def whole_words(self) -> Tensor:
        """Tokens that are a whole word: not a continuation, in the tokenizer's own way of marking."""
        starts = next(
            (mark for mark in "Ġ▁" if sum(t.startswith(mark) for t in self._tokens) > 0.01 * len(self._tokens)), ""
        )
        whole = [t.startswith(starts) and len(t) > len(starts) and not t.startswith("##") for t in self._tokens]
        if starts == "Ġ":  # a byte-level token may be a part of a character
            whole = [w and "\ufffd" not in self.word(i) and bool(self.word(i)) for i, w in enumerate(whole)]
        return torch.tensor(whole, device=self.network.device) & self.text
