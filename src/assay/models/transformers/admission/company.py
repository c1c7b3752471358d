"""Which rows a model may be given together, tried: does a row give the same answer alone and beside others?

padded    beside longer rows, padded on the right
equal     beside rows of its own length alone: padding would reach the answer
alone     with nobody
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from torch import Tensor

from assay.models.transformers.admission.rows import ProbeRows
from assay.models.transformers.admission.sameness import same
from assay.models.transformers.tokens import Encoded

Company: TypeAlias = Literal["padded", "equal", "alone"]
Ask: TypeAlias = Callable[[Sequence[Encoded]], Tensor]  # what the model says of rows [rows, ...]


def company(ask: Ask, rows: ProbeRows, short: Tensor, long: Tensor) -> Company:
    """`short` and `long` are what the model says of these rows when they are alone."""
    if _unmoved(ask, [rows.long, rows.short], [long, short]):
        return "padded"
    return "equal" if _unmoved(ask, [rows.short, rows.other], [short]) else "alone"


def _unmoved(ask: Ask, batch: Sequence[Encoded], alone: Sequence[Tensor]) -> bool:
    try:
        together = ask(batch)
    except Exception:  # whatever a model says to several rows: it does not take them
        return False
    return all(same(own, row) for own, row in zip(alone, _cut(together, alone), strict=False))


def _cut(together: Tensor, alone: Sequence[Tensor]) -> list[Tensor]:
    """The rows of an answer without what was said of padding, where it says something of every piece."""
    return [
        row[: own.shape[1]][None] if own.dim() > 2 else row[None] for row, own in zip(together, alone, strict=False)
    ]
