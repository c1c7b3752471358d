"""Attention: how much each state of a text counts, with or without a question that asks.

    additive    v . tanh(W h + b)           with a question q: v . tanh(W h + b + U q)
    dot         v . h / sqrt(width)         with a question q: q . h / sqrt(width)
    uniform     the same for all words, never learned

Bahdanau et al. (2015), arXiv:1409.0473; Vaswani et al. (2017), arXiv:1706.03762; as Jain and Wallace have them. Where a
text has no word to look at, every weight is zero.
"""

from __future__ import annotations

from math import sqrt

from torch import Tensor, nn


class Additive(nn.Module):
    """Scores by a small network, half as wide as the states."""

    def __init__(self, width: int, pair: bool) -> None:
        super().__init__()
        self.state = nn.Linear(width, width // 2)
        self.question = nn.Linear(width, width // 2, bias=False) if pair else None
        self.score = nn.Linear(width // 2, 1, bias=False)

    def forward(self, states: Tensor, question: Tensor | None) -> Tensor:
        seen: Tensor = self.state(states)
        if self.question is not None and question is not None:
            seen = seen + self.question(question)[:, None]
        return self.score(seen.tanh())[..., 0]  # type: ignore[no-any-return]


class Dot(nn.Module):
    """Scores by the product with the question, or with a learned vector where there is none."""

    def __init__(self, width: int, pair: bool) -> None:
        super().__init__()
        self.score = None if pair else nn.Linear(width, 1, bias=False)
        self.scale = 1 / sqrt(width)

    def forward(self, states: Tensor, question: Tensor | None) -> Tensor:
        if self.score is not None:
            return self.score(states)[..., 0] * self.scale  # type: ignore[no-any-return]
        assert question is not None
        return (states @ question[:, :, None])[..., 0] * self.scale


class Uniform(nn.Module):
    """The same score everywhere."""

    def __init__(self, width: int, pair: bool) -> None:
        super().__init__()

    def forward(self, states: Tensor, question: Tensor | None) -> Tensor:
        return states.new_zeros(states.shape[:2])


ATTENTIONS: dict[str, type[Additive | Dot | Uniform]] = {"additive": Additive, "dot": Dot, "uniform": Uniform}
