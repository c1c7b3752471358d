"""Which pieces an answer reads: those with a gradient of the answer with respect to the states of the last layer.

One piece (the first, or the last one of a decoder), or several whose mean becomes the answer: that is believed if the
answer stays the same when their states change places, and if they are the same ones, counted from the ends, in a short
and in a long row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from assay.models.transformers.admission.company import Ask
from assay.models.transformers.admission.sameness import same
from assay.models.transformers.attending import layers_in
from assay.models.transformers.tokens import Encoded


@dataclass(frozen=True)
class Readers:
    """The pieces from `start` to before `stop`, both counted from the end where they are negative."""

    start: int
    stop: int | None

    def of(self, pieces: int) -> tuple[int, ...]:
        """The readers of a row of so many pieces."""
        return tuple(range(pieces)[self.start : self.stop])

    @property
    def single(self) -> bool:
        return len(self.of(64)) == 1


class LastStates:
    """Keeps the states that the last layer gave for one row, as a leaf of the graph that goes on from there.

    With `turn`, the call of that number gives the states of these pieces in the opposite order.
    """

    def __init__(self, pieces: int, turn: tuple[int, list[int]] | None = None) -> None:
        self.pieces, self.turn = pieces, turn
        self.calls = 0
        self.leaf: Tensor | None = None

    @property
    def axis(self) -> int:
        """Where the pieces are: most models have [rows, pieces, size], XLNet has [pieces, rows, size]."""
        assert self.leaf is not None
        return 1 if self.leaf.shape[0] == 1 else 0

    def keep(self, module: nn.Module, args: Any, output: Any) -> Any:
        """A hook of every layer: what the one that is called last gives is kept."""
        states = output[0] if type(output) is tuple and output else output
        if not isinstance(states, Tensor) or states.dim() != 3 or set(states.shape[:2]) != {1, self.pieces}:
            return None
        self.calls += 1
        self.leaf = states.detach().requires_grad_()
        given = self.leaf.clone()  # what comes above may work in place
        if self.turn and self.turn[0] == self.calls:
            at = torch.tensor(self.turn[1], device=given.device)
            given = given.index_copy(self.axis, at, given.index_select(self.axis, at.flip(0)))
        return (given, *output[1:]) if type(output) is tuple else given

    def read(self, answer: Tensor) -> list[int]:
        """The pieces that the answer depends on."""
        if self.leaf is None or not answer.requires_grad:
            return []
        weighed = answer.flatten() @ torch.arange(1, answer.numel() + 1).to(answer)
        (gradient,) = torch.autograd.grad(weighed, self.leaf, allow_unused=True)
        if gradient is None:
            return []
        found: list[int] = torch.nonzero(gradient.abs().amax(dim=(1 - self.axis, 2)))[:, 0].tolist()
        return found


@contextmanager
def states_kept(model: nn.Module, states: LastStates) -> Iterator[None]:
    """Within it the states of the last layer are kept."""
    handles = [layer.register_forward_hook(states.keep) for layer in layers_in(model)]
    try:
        with torch.enable_grad():
            yield
    finally:
        for handle in handles:
            handle.remove()


def readers(
    model: Callable[[], nn.Module], ask: Ask, rows: tuple[Encoded, Encoded]
) -> tuple[Readers | None, list[Tensor]]:
    """The readers that both rows, one shorter than the other, agree on, and what the model says of each row."""
    answers, found, calls = [], [], 0
    for row in rows:
        states = LastStates(len(row[0]))
        with states_kept(model(), states):
            answer = ask([row])
            found.append(states.read(answer))
        answers.append(answer.detach())
        calls = states.calls
    agreed = block(found[0], found[1], len(rows[0][0]), len(rows[1][0]))
    if agreed is not None and not agreed.single:
        turned = LastStates(len(rows[1][0]), (calls, found[1]))
        with states_kept(model(), turned):
            agreed = agreed if same(answers[1], ask([rows[1]]).detach()) else None
    return agreed, answers


def block(short: list[int], long: list[int], n: int, m: int) -> Readers | None:
    """The same readers in a row of n and in one of m pieces, counted from the ends; none where they are not."""
    if not short or not long or any(at != list(range(at[0], at[-1] + 1)) for at in (short, long)):
        return None
    starts, stops = (long[0], long[0] - m), (long[-1] + 1 - m, long[-1] + 1)
    tried = (Readers(start, stop or None) for start in starts for stop in stops)
    return next((one for one in tried if (one.of(n), one.of(m)) == (tuple(short), tuple(long))), None)
