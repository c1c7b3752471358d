"""How the embedding layer of a model is asked and answers: gradients are taken there.

It should be asked once in a forward pass and give one tensor [rows, pieces, size]. A model that works on [pieces, rows]
(XLNet) is known by it, and what its layer gives is turned round where gradients are taken. A decoder that reads the
text of its encoder again, moved on by one token (a classifier made of BART), is known by what its own layer is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from assay.models.transformers.admission.layers import because
from assay.models.transformers.network import output_changed


@dataclass(frozen=True)
class Layout:
    """What the layer gives, or in words why gradients cannot be taken there."""

    pieces_first: bool = False
    problem: str | None = None


class EmbeddingWatch:
    """Keeps what the layer is asked, and for what it gives a vector each; and what all layers of its kind are asked."""

    def __init__(self) -> None:
        self.asked: list[Tensor | None] = []  # None where it does not give a vector for every id
        self.all_asked: list[Tensor] = []

    def keep(self, module: nn.Module, args: Any, output: Any) -> None:
        """A hook of the layer."""
        ids = args[0] if args and isinstance(args[0], Tensor) else None
        each = ids is not None and isinstance(output, Tensor) and output.shape[:-1] == ids.shape
        self.asked.append(ids if each else None)

    def keep_any(self, module: nn.Module, args: Any, output: Any) -> None:
        """A hook of every embedding layer."""
        if args and isinstance(args[0], Tensor):
            self.all_asked.append(args[0])

    @contextmanager
    def watching(self, model: nn.Module, layer: Any) -> Iterator[None]:
        """Within it one forward pass is watched; an embedding that is no layer of torch is not."""
        self.asked.clear()
        self.all_asked.clear()
        tables = [part for part in model.modules() if isinstance(part, nn.Embedding)]
        handles = [table.register_forward_hook(self.keep_any) for table in tables]
        if isinstance(layer, nn.Module):
            handles.append(layer.register_forward_hook(self.keep))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def twice(self, row: Sequence[int]) -> bool:
        """After one row alone: whether it was read once more, behind a token that a decoder starts with."""
        moved = list(row[:-1])
        return len(moved) > 1 and any(ids.flatten()[1 : len(row)].tolist() == moved for ids in self.all_asked)

    def layout(self, row: Sequence[int]) -> Layout:
        """After one row alone; a model may put padding of its own behind it."""
        if len(self.asked) != 1:
            return Layout(problem=f"its embedding layer is called {len(self.asked)} times in a forward pass")
        ids, n = self.asked[0], len(row)
        if ids is not None and ids.dim() == 2 and ids[0, :n].tolist() == list(row):
            return Layout()
        if ids is not None and ids.dim() == 2 and ids[:, 0].tolist() == list(row):
            return Layout(pieces_first=True)
        return Layout(problem="its embedding layer does not give one vector for every piece of a text")


def gradient_problem(layer: nn.Module, say: Callable[[], Tensor]) -> str | None:
    """Why no gradient of what the model says gets back to what the layer gives, in words."""
    given: list[Tensor] = []

    def leaf(embedded: Tensor) -> Tensor:
        given.append(embedded.detach().requires_grad_())
        return given[-1].clone()  # what comes above may work in place

    try:
        with torch.enable_grad(), output_changed(layer, leaf):
            said = say()
            torch.autograd.grad(said.sum(), given)
    except Exception as error:  # whatever a model says to that
        return f"no gradient gets back to its words{because(error)}"
    return None
