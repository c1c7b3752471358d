"""An attentive network word by word in plain torch, for the loops of the paper's algorithms."""

from __future__ import annotations

from typing import Any

import numpy as np
import tiny
import torch
from torch import Tensor


class ByHand:
    """One text: its states, the attention of its words, and the answer under any attention."""

    def __init__(self, network: Any, tokenizer: Any, words: list[str], *, detach: bool = False) -> None:
        self.network = network
        ids = [tokenizer.bos_token_id, *tokenizer.convert_tokens_to_ids(words), tokenizer.eos_token_id]
        self.vectors = network.embedding.weight[ids].detach().clone().requires_grad_()
        self.states = tiny.bilstm(network.encoder)(self.vectors[None])[0][0]
        scores = network.attention.score(torch.tanh(network.attention.state(self.states)))[1:-1, 0]
        self.own = scores.softmax(0).detach() if detach else scores.softmax(0)

    def chances(self, attention: Tensor) -> Tensor:
        context = (attention[:, None] * self.states[1:-1]).sum(0)
        z = self.network.projection(context)
        return torch.cat([-z, z]).div(2).softmax(0) if len(z) == 1 else z.softmax(0)

    def answer(self, attention: Any) -> np.ndarray:
        with torch.no_grad():
            return self.chances(torch.tensor(np.asarray(attention), dtype=torch.float32)).double().numpy()

    @property
    def weights(self) -> np.ndarray:
        return self.own.detach().double().numpy()
