"""How the embedding layer of a model is asked and answers: gradients are taken there.

It should be asked once in a forward pass and give one tensor [rows, pieces, size]. A model that works on [pieces, rows]
(XLNet) is known by it, and what its layer gives is turned round where gradients are taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn


@dataclass(frozen=True)
class Layout:
    """What the layer gives, or in words why gradients cannot be taken there."""

    pieces_first: bool = False
    problem: str | None = None


class EmbeddingWatch:
    """Keeps what the layer is asked, and for what it gives a vector each."""

    def __init__(self) -> None:
        self.asked: list[Tensor | None] = []  # None where it does not give a vector for every id

    def keep(self, module: nn.Module, args: Any, output: Any) -> None:
        """A hook of the layer."""
        ids = args[0] if args and isinstance(args[0], Tensor) else None
        each = ids is not None and isinstance(output, Tensor) and output.shape[:-1] == ids.shape
        self.asked.append(ids if each else None)

    @contextmanager
    def watching(self, layer: Any) -> Iterator[None]:
        """Within it one forward pass is watched; an embedding that is no layer of torch is not."""
        self.asked.clear()
        handle = layer.register_forward_hook(self.keep) if isinstance(layer, nn.Module) else None
        try:
            yield
        finally:
            if handle is not None:
                handle.remove()

    def layout(self, row: Sequence[int]) -> Layout:
        """After one row alone; a model may put padding of its own behind it."""
        if len(self.asked) != 1:
            return Layout(problem=f"its embedding layer is asked {len(self.asked)} times in a forward pass")
        ids, n = self.asked[0], len(row)
        if ids is not None and ids.dim() == 2 and ids[0, :n].tolist() == list(row):
            return Layout()
        if ids is not None and ids.dim() == 2 and ids[:, 0].tolist() == list(row):
            return Layout(pieces_first=True)
        return Layout(problem="its embedding layer does not give one vector for every piece of a text")
