"""Two batches at a time on a CPU: while one waits for the slowest of its threads, the other computes.

A forward pass of a small batch is many short operations, and after each of them all threads wait for one another. Two
passes with half of the threads each wait less: an eighth to a fifth faster on two cores (docs/benchmarks.md). Only
for models whose forward pass changes nothing in them, so that two at a time cannot meet.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from typing import Any, TypeVar

B = TypeVar("B")
R = TypeVar("R")

# Encoders of transformers whose forward pass keeps nothing for the next.
PURE = frozenset({"albert", "bert", "camembert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta"})
_FEWEST = 4  # batches, below which there is nothing to gain


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

    def with_half(batch: B) -> R | Exception:
        # Said before every batch: whether it is kept by the thread or by the process differs among builds of OpenMP.
        torch.set_num_threads(threads // 2)
        return _tried(work, batch)

    waiting = [_pool(os.getpid()).submit(with_half, batch) for batch in batches]
    try:
        return [one.result() for one in waiting]
    finally:  # after Ctrl-C nothing new is begun
        for one in waiting:
            one.cancel()
        wait(waiting)
        torch.set_num_threads(threads)


def _tried(work: Callable[[B], R], batch: B) -> R | Exception:
    try:
        return work(batch)
    except Exception as error:
        return error


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """Two workers; a forked process needs its own, as threads do not come along."""
    return ThreadPoolExecutor(2, "assay")
