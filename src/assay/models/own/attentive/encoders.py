"""Encoders: word vectors [n, length, size] to states [n, length, width], and one vector for the text as a whole.

    lstm       a bidirectional LSTM; the text: its last states in both directions
    cnn        convolutions of width 1, 3, 5 and 7 with ReLU; the text: the largest value of each filter
    average    tanh of a projection, word by word; the text: the mean

Padding is masked: a state depends on the words of its own text only.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn

_WIDTHS = (1, 3, 5, 7)


class StateEncoder(nn.Module):
    """What all encoders have: `width`, and states and summary from vectors and lengths."""

    width: int

    @abstractmethod
    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """States, zero beyond each length, and one vector per text."""


class Lstm(StateEncoder):
    """One layer in each direction; backwards, each text is turned round within its own length.

    In training on a CPU this is many times faster than packed sequences, whose gradients are copied whole at each step.
    """

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.forwards = nn.LSTM(size, hidden, batch_first=True)
        self.backwards = nn.LSTM(size, hidden, batch_first=True)
        self.width = 2 * hidden

    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        places = torch.arange(vectors.shape[1], device=vectors.device)
        turned = (lengths[:, None] - 1 - places) % vectors.shape[1]  # beyond a text padding stays beyond it
        last = lengths[:, None] - 1
        # cuDNN gives no gradients of a model that is not in training; torch's own kernels do.
        with torch.backends.cudnn.flags(enabled=self.training or not torch.is_grad_enabled()):
            on, back = self.forwards(vectors)[0], self.backwards(_at(vectors, turned))[0]
        states = torch.cat([on, _at(back, turned)], dim=-1) * inside(vectors, lengths)
        return states, torch.cat([_at(on, last), _at(back, last)], dim=-1)[:, 0]


class Cnn(StateEncoder):
    """A quarter of the filters for each width."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        filters = hidden // len(_WIDTHS)
        self.convolutions = nn.ModuleList(nn.Conv1d(size, filters, width, padding=width // 2) for width in _WIDTHS)
        self.width = filters * len(_WIDTHS)

    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        there = inside(vectors, lengths)
        across = (vectors * there).transpose(1, 2)
        states = torch.cat([layer(across) for layer in self.convolutions], dim=1).relu().transpose(1, 2) * there
        return states, states.amax(dim=1)  # after ReLU nothing is below the zeros of the padding


class Average(StateEncoder):
    """Each word by itself."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.projection = nn.Linear(size, hidden)
        self.width = hidden

    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        states = self.projection(vectors).tanh() * inside(vectors, lengths)
        return states, states.sum(dim=1) / lengths[:, None]


ENCODERS: dict[str, type[Lstm | Cnn | Average]] = {"lstm": Lstm, "cnn": Cnn, "average": Average}


def inside(vectors: Tensor, lengths: Tensor) -> Tensor:
    """1 at the words of each text, 0 at its padding [n, length, 1]."""
    places = torch.arange(vectors.shape[1], device=vectors.device)
    return (places < lengths[:, None])[:, :, None].to(vectors.dtype)


def _at(vectors: Tensor, places: Tensor) -> Tensor:
    """Of each text the vectors at these places [n, k, size]."""
    return vectors.gather(1, places[:, :, None].expand(-1, -1, vectors.shape[2]))
