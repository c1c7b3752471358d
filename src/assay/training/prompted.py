"""Prompts with answers, as a causal language model learns them: the loss is on the tokens of the answers alone.

    loss = - mean over the answers' tokens t of  log p(t | the prompt, and the answer before t)

The token that ends a text is the last of every answer. Batches are of similar length, and the vocabulary is only
projected to where an answer stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from assay.errors import BadInput

Pair: TypeAlias = tuple[str, str]  # a prompt, and the answer that is to be learnt
_UNWANTED = -100


@dataclass(frozen=True)
class Prompted:
    """Token ids of prompts with their answers, and where the answers begin."""

    ids: list[list[int]]
    starts: list[int]

    @classmethod
    def of(cls, tokenizer: Any, pairs: Sequence[Pair], width: int, end: int) -> Prompted:
        """The pairs that fit into `width` tokens, each with the token that ends a text."""
        prompts = tokenizer([prompt for prompt, _ in pairs])["input_ids"]
        answers = tokenizer([answer for _, answer in pairs], add_special_tokens=False)["input_ids"]
        rows = [(p + a + [end], len(p)) for p, a in zip(prompts, answers, strict=True) if len(p) + len(a) < width]
        if not rows:
            raise BadInput(f"no text is left to learn from: none fits into {width} tokens with its prompt.")
        return cls([ids for ids, _ in rows], [start for _, start in rows])

    def __len__(self) -> int:
        return len(self.ids)

    def batches(self, size: int, many: int, rng: np.random.Generator) -> list[list[int]]:
        """So many batches of rows of about the same length, drawn without a row twice as long as there are others."""
        order = np.concatenate([rng.permutation(len(self)) for _ in range(-(-size * many // len(self)))])[: size * many]
        by_length = sorted(order.tolist(), key=lambda i: len(self.ids[i]))
        found = [by_length[i : i + size] for i in range(0, len(by_length), size)]
        return [found[i] for i in rng.permutation(len(found))]

    def batch(self, chosen: Sequence[int], device: Any) -> tuple[Tensor, Tensor]:
        """Right-padded ids, and for each token what is to be predicted after it: -100 outside of the answer."""
        width = max(len(self.ids[i]) for i in chosen)
        ids, wanted = torch.zeros(len(chosen), width, dtype=torch.long), torch.full((len(chosen), width), _UNWANTED)
        for row, i in enumerate(chosen):
            one = torch.tensor(self.ids[i])
            ids[row, : len(one)] = one
            wanted[row, self.starts[i] - 1 : len(one) - 1] = one[self.starts[i] :]
        return ids.to(device), wanted.to(device)


def answer_losses(model: Any, ids: Tensor, wanted: Tensor) -> Tensor:
    """-log p of every token of the answers, row after row; padding stands behind them and is not seen."""
    states = model.base_model(input_ids=ids).last_hidden_state
    at = wanted >= 0
    return cross_entropy(model.get_output_embeddings()(states[at]).float(), wanted[at], reduction="none")
