"""What the engine holds back while it works in small steps of its own."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Lock

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


class _OneThread:
    """The threads of BLAS are one number for the whole process: the first that needs one sets it, the last resets it.

    Otherwise whoever comes second would take 1 for the number to go back to, and leave it behind.
    """

    def __init__(self) -> None:
        self._guard, self._inside, self._limit = Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        with self._guard:
            self._inside += 1
            if self._inside == 1:
                self._limit.enter_context(_threads().limit(limits=1, user_api="blas"))

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self._inside -= 1
            if not self._inside:
                self._limit.close()


_one_thread = _OneThread()


def one_thread() -> _OneThread:
    """The arithmetic of a method is small: starting the threads of numpy's BLAS would take longer than the work."""
    return _one_thread
