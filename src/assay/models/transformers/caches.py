"""Prompts of many lengths, read in passes of nearly one length, and their keys and values put together.

    cost of a pass = a_pass + rows * longest        tokens; the cheapest split of the prompts, sorted by length

On a CPU a token of padding costs as much as any other, and a pass more costs as much as a few tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

A_PASS = 32  # tokens: the weights are read once more, and the layers are called


def passes(lengths: Sequence[int], a_pass: int) -> list[list[int]]:
    """The numbers of the rows that are read together, so that all passes together cost least."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    least, cuts = [0], [0]
    for end in range(1, len(order) + 1):
        longest = lengths[order[end - 1]]
        costs = [least[start] + a_pass + (end - start) * longest for start in range(end)]
        least.append(min(costs))
        cuts.append(costs.index(least[-1]))
    found: list[list[int]] = []
    end = len(order)
    while end:
        found.append(order[cuts[end] : end])
        end = cuts[end]
    return found


def joined(caches: Sequence[Any]) -> Any:
    """One cache of all rows, padded on the left; an error for layers that keep more than keys and values."""
    from transformers.cache_utils import DynamicLayer  # slow to import, and only wanted here

    whole = caches[0]
    for number, layer in enumerate(whole.layers):
        several = [cache.layers[number] for cache in caches]
        if any(type(one) is not DynamicLayer for one in several):
            raise TypeError(f"the keys and values of {type(layer).__name__} cannot be put together")
        layer.keys = padded_left([one.keys for one in several], 2)
        layer.values = padded_left([one.values for one in several], 2)
    return whole


def padded_left(parts: Sequence[Tensor], dim: int) -> Tensor:
    """Rows of several tensors, with zeros before those that are shorter along a dimension."""
    width = max(part.shape[dim] for part in parts)
    behind = (0, 0) * (parts[0].dim() - 1 - dim)
    return torch.cat([pad(part, (*behind, width - part.shape[dim], 0)) for part in parts])
