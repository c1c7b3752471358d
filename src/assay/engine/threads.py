"""How many threads compute: for a user who names a number, and for the engine's own small steps.

A verb that is called with threads=N computes with N, and afterwards there are as many as before, also after an error.
OpenMP keeps that number for each thread of Python: another thread that has used torch before keeps its own, and two
verbs in two threads may have two numbers. Two things are of the whole process, and cannot be promised: a thread that is
new to torch begins with what was said last, so it begins with N if it begins meanwhile; and so does MKL, where torch
computes with it. Neither changes an answer by more than the order of its sums does, which is its last bits.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache, wraps
from inspect import isgeneratorfunction
from threading import Lock
from typing import Any, ParamSpec, TypeVar, cast

from threadpoolctl import ThreadpoolController

from assay.errors import BadInput

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def computing_with(threads: int | None) -> Iterator[None]:
    """So many threads of torch, and afterwards as many as before; None leaves them as they are."""
    if threads is None:
        yield
        return
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise BadInput(f"threads is how many threads to compute with, a whole number from 1 on, not {threads!r}.")
    import torch  # slow to import, and a verb that names no number may do without it

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def with_threads(verb: Callable[P, R]) -> Callable[P, R]:
    """Give a verb its argument `threads`; between the steps of one that yields, its caller has as many as before."""

    @wraps(verb)
    def led(*args: P.args, **settings: P.kwargs) -> R:
        with computing_with(cast("int | None", settings.get("threads"))):
            return verb(*args, **settings)

    @wraps(verb)
    def led_step_by_step(*args: P.args, **settings: P.kwargs) -> Any:
        steps = cast("Iterator[Any]", verb(*args, **settings))
        if settings.get("threads") is None:  # the usual case: nothing to set and to put back at every step
            yield from steps
            return
        while True:
            with computing_with(cast("int | None", settings.get("threads"))):
                try:
                    one = next(steps)
                except StopIteration:
                    return
            yield one

    return led_step_by_step if isgeneratorfunction(verb) else led


class _OfAllThreads:
    """A setting of the whole process: the first that needs it makes it, and the last that leaves takes it back.

    Otherwise whoever comes second would take it for what was there before, and leave it behind.
    """

    def __init__(self, setting: Callable[[], AbstractContextManager[Any]]) -> None:
        self._setting, self._guard, self._inside, self._made = setting, Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        with self._guard:
            self._inside += 1
            if self._inside == 1:
                self._made.enter_context(self._setting())

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self._inside -= 1
            if not self._inside:
                self._made.close()


@contextmanager
def _uncollected() -> Iterator[None]:
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


no_collection = _OfAllThreads(_uncollected)
"""A round makes many small objects and no cycles among them; looking for cycles would cost more than the round."""

one_thread = _OfAllThreads(lambda: _threads().limit(limits=1, user_api="blas"))
"""The arithmetic of a method is small: starting the threads of numpy's BLAS would take longer than the work."""
