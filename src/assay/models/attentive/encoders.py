"""Encoders: word vectors [n, length, size] to states [n, length, width], and one vector for the text as a whole.

    lstm       a bidirectional LSTM; the text: its last states in both directions
    cnn        convolutions of width 1, 3, 5 and 7 with ReLU; the text: the largest value of each filter
    average    tanh of a projection, word by word; the text: the mean

Padding is packed away or masked: a state depends on the words of its own text only.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

_WIDTHS = (1, 3, 5, 7)


class Encoder(nn.Module):
    """What all encoders have: `width`, and states and summary from vectors and lengths."""

    width: int

    @abstractmethod
    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """States, zero beyond each length, and one vector per text."""


class Lstm(Encoder):
    """One layer, both directions."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(size, hidden, batch_first=True, bidirectional=True)
        self.width = 2 * hidden

    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        packed = pack_padded_sequence(vectors, lengths.cpu(), batch_first=True, enforce_sorted=False)
        # cuDNN gives no gradients of a model that is not in training; torch's own kernels do.
        fast = self.training or not torch.is_grad_enabled()
        with torch.backends.cudnn.flags(enabled=fast):
            output, (last, _) = self.lstm(packed)
        states, _ = pad_packed_sequence(output, batch_first=True, total_length=vectors.shape[1])
        return states, torch.cat([last[0], last[1]], dim=-1)


class Cnn(Encoder):
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


class Average(Encoder):
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
