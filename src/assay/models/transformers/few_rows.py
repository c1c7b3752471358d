"""A lone row has the bits that it has in company: linear layers that get fewer than eight rows are given eight.

Libraries of linear algebra add up a product of a few rows in another order than one of more. Measured on the bundled
models: with one thread the bits of a row are the same from four rows on, with two from eight. In a classifier of one
text only the head has so few rows, one for each text, so only its products are filled up, with zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

_LEAST = 8


def sums_as_in_company(sequences: int) -> AbstractContextManager[Any]:
    """Within it, so few sequences are computed as they would be among others."""
    return _Filled() if sequences < _LEAST else nullcontext()


class _Filled(TorchFunctionMode):
    """Sees every call of a torch function in this thread."""

    def __torch_function__(self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
        settings = kwargs or {}
        if func is functional.linear and len(args) > 1 and 0 < (rows := _rows(args[0])) < _LEAST:
            given, *weights = args
            filled = functional.pad(given.reshape(rows, -1), (0, 0, 0, _LEAST - rows))
            return func(filled, *weights, **settings)[:rows].reshape(*given.shape[:-1], -1)
        return func(*args, **settings)


def _rows(given: Tensor) -> int:
    return given.numel() // max(1, given.shape[-1])
