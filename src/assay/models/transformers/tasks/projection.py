"""Language models asked for the probability of given tokens at given places.

    log p = sum_j log p(token_j at its place | the text)

Only the places that are asked are projected to the vocabulary: a hook on the base model hands the head the hidden
states there, as projecting is most of the cost of a language model on short texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from assay.models.transformers.network import Network
from assay.models.transformers.tasks.base import two_way

Index = Sequence[tuple[int, int]]  # (row, place) pairs


class Wanted(NamedTuple):
    """A row, the places where it is read off, the tokens that are wanted there, and what a decoder is given before."""

    ids: list[int]
    types: list[int] | None
    at: tuple[int, ...]
    tokens: tuple[int, ...] = ()
    before: tuple[int, ...] = ()


def places_of(batch: Sequence[Any]) -> Index:
    """Every place of every row of a batch."""
    return [(i, at) for i, row in enumerate(batch) for at in row.at]


def outcome_logits(batch: Sequence[Wanted], projected: Tensor, which: Sequence[int] | None = None) -> Tensor:
    """Logits of "other" and of the wanted tokens [n, 2], from the logits at all places of the batch.

    `which` says, where several places of the batch share a row of the logits, whose it is for each of them.
    """
    tokens = [token for row in batch for token in row.tokens]
    rows = [i for i, _ in places_of(batch)]
    at, wanted, own = torch.tensor([which or range(len(tokens)), tokens, rows], device=projected.device)
    chances = projected.log_softmax(-1)[at, wanted]
    return two_way(chances.new_zeros(len(batch)).index_add(0, own, chances))


def projected(network: Network, batch: Sequence[Any], index: Index) -> Tensor:
    """The logits at these (row, place) pairs [n, vocabulary], at least in float32."""
    inputs = network.inputs([row.ids for row in batch], [row.types for row in batch])
    return logits_at(network, index, inputs)[0]


def logits_at(network: Network, index: Index, inputs: dict[str, Any]) -> tuple[Tensor, Any]:
    """The logits at these (row, place) pairs [n, vocabulary], at least in float32, and all that the model returned."""
    places = tensors(index, network.device)
    with _only_at(network.model, places):
        output = network.model(**inputs)
    logits: Tensor = output.logits
    if logits.shape[:2] != (len(index), 1):  # a head that does not take its states from the base model
        logits = logits[places][:, None]
    return (logits[:, 0] if logits.dtype == torch.float64 else logits[:, 0].float()), output


@contextmanager
def _only_at(model: Any, places: tuple[Tensor, ...]) -> Iterator[None]:
    """Within it, the head sees the hidden states at these (row, place) pairs and nothing else."""

    def gather(module: Any, args: Any, output: Any) -> Any:
        if getattr(output, "last_hidden_state", None) is not None:  # without a base the model itself is called so
            output["last_hidden_state"] = output.last_hidden_state[places][:, None]
        return output

    handle = model.base_model.register_forward_hook(gather)
    try:
        yield
    finally:
        handle.remove()


def tensors(index: Index, device: torch.device) -> tuple[Tensor, ...]:
    """Rows and places, each as one tensor."""
    return tuple(torch.tensor(part, device=device, dtype=torch.long) for part in zip(*index, strict=True))
