"""How many threads a command computes with, and how they wait for each other.

After every operation of a forward pass all threads wait for the slowest. OpenMP lets them spin while they wait, which
is fine on an idle machine; on a busy one they take the cores from the thread that they wait for, and a command takes
several times as long as with a single thread (docs/benchmarks.md). So threads sleep while they wait, and there are no
more of them than there are free cores.
"""

from __future__ import annotations

import os
import sys

_COUNT, _WAITING = "OMP_NUM_THREADS", "OMP_WAIT_POLICY"


def choose_threads() -> None:
    """For a process of our own, before torch is imported; what the user has set in the environment stays."""
    os.environ.setdefault(_WAITING, "PASSIVE")
    if (free := free_cores()) < _cores():
        os.environ.setdefault(_COUNT, str(free))


def set_threads(count: int | None) -> int | None:
    """The option --threads, whenever torch is imported."""
    if count is not None:
        os.environ[_COUNT] = str(count)
        if (torch := sys.modules.get("torch")) is not None:
            torch.set_num_threads(count)
    return count


def free_cores() -> int:
    """The cores that other work leaves, by the load of the last minute; at least one."""
    try:
        busy = os.getloadavg()[0]
    except OSError:  # unknown here
        busy = 0.0
    return max(1, _cores() - round(busy))


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
