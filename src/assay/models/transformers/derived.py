"""Other models made of one, by name; the model itself stays as it is.

cut_attention       the same weights, but no gradient flows through the attention: it is a constant to gradients
randomized:...      some of the weights drawn anew (randomized.py)
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from assay.errors import Unanswerable
from assay.models.transformers.attending import CUT, register, watchable
from assay.models.transformers.randomized import randomized
from assay.models.transformers.twin import twin

CUT_ATTENTION = "cut_attention"


@runtime_checkable
class CutsItself(Protocol):
    """A network with a switch of its own for whether gradients stop at its attention."""

    cut: bool


def derived(model: Any, spec: str, name: str) -> Any:
    """The model that the specification describes; `name` is for messages."""
    return _cut(model, name) if spec == CUT_ATTENTION else randomized(model, spec)


def _cut(model: Any, name: str) -> Any:
    if isinstance(model, CutsItself):
        copy = twin(model)
        copy.cut = True
        return copy
    if not watchable(model):
        raise Unanswerable(
            f"the attention of {name} is not done by a function that can be replaced, so there is no "
            f"{CUT_ATTENTION!r} of it; BERT and most other models of transformers have one."
        )
    register()
    copy = twin(model)
    copy.set_attn_implementation(CUT)
    return copy
