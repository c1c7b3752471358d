"""What the engine holds back while it works in small steps of its own."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@contextmanager
def no_collection() -> Iterator[None]:
    """A round makes many small objects and no cycles among them; looking for cycles would cost more than the round."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """The arithmetic of a method is small: starting the threads of numpy's BLAS would take longer than the work."""
    return _threads().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]
