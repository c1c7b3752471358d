"""Whether the layers of a model show what is asked of them: attention maps pieces x pieces, and a state per piece.

`output` is what the model returned, or the error that it raised.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor


def maps_problem(output: Any, pieces: int, layers: int | None) -> str | None:
    """What is wrong with the attention of a row of so many pieces, in words; `layers` is how many there should be."""
    maps = getattr(output, "attentions", None)
    if isinstance(output, Exception) or not maps or not all(isinstance(one, Tensor) for one in maps):
        return f"it returns no attention maps{_because(output)}"
    sizes = {tuple(one.shape[2:]) for one in maps}
    if sizes != {(pieces, pieces)}:
        shown = " and ".join(sorted(" x ".join(map(str, size)) for size in sizes))
        return f"its attention maps are {shown} for a text of {pieces} pieces"
    if layers is not None and len(maps) != layers:
        return f"it returns {len(maps)} attention maps for {layers} layers"
    return None


def states_problem(output: Any, pieces: int) -> str | None:
    """The same for the hidden states."""
    states = getattr(output, "hidden_states", None)
    if isinstance(output, Exception) or not states or not all(isinstance(one, Tensor) for one in states):
        return f"it returns no hidden states{_because(output)}"
    if {tuple(one.shape[:-1]) for one in states} != {(1, pieces)} or len({one.shape[-1] for one in states}) > 1:
        return "the states of its layers are not one vector a piece, all of one size"
    return None


def _because(output: Any) -> str:
    return f" ({type(output).__name__}: {' '.join(str(output).split())[:100]})" if isinstance(output, Exception) else ""
