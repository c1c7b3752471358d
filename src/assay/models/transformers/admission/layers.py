"""Whether the layers of a model show what is asked of them: attention maps pieces x pieces, and a state per piece.

`output` is what the model returned, or the error that it raised.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

# How far an answer may move, relative to its size, when attention is computed another way; by kind of number.
_ROUNDING = {torch.float32: 1e-3, torch.float64: 1e-3}
_HALF = 0.05


def maps_problem(output: Any, pieces: int, layers: int | None, answer: Tensor) -> str | None:
    """What is wrong with the attention of a row of so many pieces, in words.

    `layers` is how many maps there should be, and `answer` what the model says of the row when it is not asked for any.
    """
    maps = getattr(output, "attentions", None)
    if isinstance(output, Exception) or not maps or not all(isinstance(one, Tensor) for one in maps):
        return f"it returns no attention maps{because(output)}"
    sizes = {tuple(one.shape[2:]) for one in maps}
    if sizes != {(pieces, pieces)}:
        shown = " and ".join(sorted(" x ".join(map(str, size)) for size in sizes))
        return f"its attention maps are {shown} for a text of {pieces} pieces"
    if layers is not None and len(maps) != layers:
        return f"it returns {len(maps)} attention maps for {layers} layers"
    if _moved(getattr(output, "logits", None), answer):
        return "asked for its attention maps it gives another answer, so they are not those behind its own"
    return None


def _moved(logits: Tensor | None, answer: Tensor) -> bool:
    if logits is None or logits.shape != answer.shape:
        return False
    near = _ROUNDING.get(answer.dtype, _HALF) * float(answer.abs().max())
    return bool((logits - answer).abs().max() > near)


def states_problem(output: Any, pieces: int) -> str | None:
    """The same for the hidden states."""
    states = getattr(output, "hidden_states", None)
    if isinstance(output, Exception) or not states or not all(isinstance(one, Tensor) for one in states):
        return f"it returns no hidden states{because(output)}"
    if {tuple(one.shape[:-1]) for one in states} != {(1, pieces)} or len({one.shape[-1] for one in states}) > 1:
        return "the states of its layers are not one vector a piece, all of one size"
    return None


def because(output: Any) -> str:
    """The error in brackets, where it is one."""
    return f" ({type(output).__name__}: {' '.join(str(output).split())[:100]})" if isinstance(output, Exception) else ""
