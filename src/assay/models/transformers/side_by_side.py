"""Two batches at a time on a CPU: while one waits for the slowest of its threads, the other computes.

A forward pass of a small batch is many short operations, and after each of them all threads wait for one another. Two
passes with half of the threads each wait less: an eighth to a fifth faster on two cores (docs/benchmarks.md). Only
for models whose forward pass changes nothing in them, so that two at a time cannot meet.

How many threads torch uses is kept by every thread for itself, but a thread that is new to torch begins with what any
thread said last. So the two workers say it once, when they begin, and the number for the others is put back at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from threading import Barrier, Lock
from typing import Any, TypeVar

B = TypeVar("B")
R = TypeVar("R")

# Encoders of transformers whose forward pass keeps nothing for the next.
PURE = frozenset({"albert", "bert", "camembert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta"})
_FEWEST = 4  # batches, below which there is nothing to gain
_guard = Lock()


def stateless(model: Any) -> bool:
    """Whether two forward passes may run at once: a known encoder on a CPU, and nobody listens inside."""
    known = type(model).__module__.startswith("transformers.models.") and model.config.model_type in PURE
    return known and model.device.type == "cpu" and not any(_hooked(module) for module in model.modules())


def _hooked(module: Any) -> bool:
    return bool(module._forward_hooks or module._forward_pre_hooks)


def side_by_side(work: Callable[[B], R], batches: Sequence[B]) -> list[R | Exception]:
    """What becomes of each batch, or the error it ended in, in their order; one after another if one thread is all."""
    import torch  # slow to import, and the engine goes without it

    threads = torch.get_num_threads()
    if threads < 2 or len(batches) < _FEWEST or torch.is_autocast_enabled("cpu"):  # that is of one thread only
        return [_tried(work, batch) for batch in batches]

    pool = _workers(threads)
    waiting = [pool.submit(_tried, work, batch) for batch in batches]
    try:
        return [one.result() for one in waiting]
    finally:  # after Ctrl-C nothing new is begun
        for one in waiting:
            one.cancel()
        wait(waiting)


def _tried(work: Callable[[B], R], batch: B) -> R | Exception:
    try:
        return work(batch)
    except Exception as error:
        return error


def prepare() -> None:
    """Begin the workers when a model is loaded: later, threads of others may just then be new to torch."""
    import torch

    if (threads := torch.get_num_threads()) > 1:
        _workers(threads)


def _workers(threads: int) -> ThreadPoolExecutor:
    with _guard:
        return _pool(os.getpid(), threads)


@lru_cache(maxsize=4)
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Two workers that share so many threads; a forked process needs its own, as threads do not come along."""
    import torch

    def begin() -> None:
        torch.get_num_threads()  # a thread's first look takes over the number of the others, and would do so later
        torch.set_num_threads(threads // 2)

    pool, both = ThreadPoolExecutor(2, "assay", begin), Barrier(2)
    try:
        wait([pool.submit(both.wait) for _ in range(2)])
    finally:
        torch.set_num_threads(threads)
    return pool
