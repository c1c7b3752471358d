"""Ray Core actors, each with a model and an engine of its own.

An actor that dies is started anew and its shard is tried again by Ray; a shard that kills its worker four times stops
the run. The driver reads the input and writes the shards, so workers need neither the input nor a shared disk. It
uses the cluster that the program is connected to, else the one that `address` or RAY_ADDRESS name, else it starts one
on this machine.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from assay.errors import AssayError, BadInput, Stopped
from assay.runs.executors import Options
from assay.runs.work import Shard, Work

_RETRIES = 3
_STORE = 256 * 1024**2
_CLUSTERS = "ENABLE_RAY_CLUSTER"
_HERE = "127.0.0.1"  # nobody on the network can reach a cluster that is meant for this machine


class Actor:
    """A worker of a job, where Ray puts it."""

    def __init__(self, job: Work) -> None:
        self.worker = job.worker()

    def work(self, shard: Shard) -> Any:
        return self.worker.work(shard)


def execute(job: Work, shards: Iterator[Shard], options: Options) -> Iterator[Any]:
    ray = _ray()
    own = not ray.is_initialized()
    if own:
        _connect(ray, options)
    try:
        yield from _spread(ray, _actors(ray, job, options), shards)
    finally:
        if own:
            ray.shutdown()


def _ray() -> Any:
    try:
        return import_module("ray")
    except ImportError:
        raise BadInput("the executor ray needs Ray: pip install 'assay[ray]'.") from None


def _connect(ray: Any, options: Options) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told that a run takes place
    address = options.address or os.environ.get("RAY_ADDRESS")
    try:
        with _own_sigterm():
            _init(ray, address)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise BadInput(f"no Ray cluster could be reached: {' '.join(str(error).split())[:200]}") from error


def _init(ray: Any, address: str | None) -> None:
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address:
        ray.init(address=address, **quiet)
    else:
        with _loopback():
            ray.init(_node_ip_address=_HERE, include_dashboard=False, object_store_memory=_STORE, **quiet)


@contextmanager
def _loopback() -> Iterator[None]:
    """Within it Ray takes the loopback address for this machine's, as it does on macOS and Windows.

    Elsewhere it replaces it by one that other machines can reach, also where it was asked for by name.
    """
    constants = import_module("ray._private.ray_constants")
    before = getattr(constants, _CLUSTERS, True)
    setattr(constants, _CLUSTERS, False)
    try:
        yield
    finally:
        setattr(constants, _CLUSTERS, before)


@contextmanager
def _own_sigterm() -> Iterator[None]:
    """Ray answers a polite kill by handlers of its own, in C++ too, that end the process; here the run ends itself."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _actors(ray: Any, job: Work, options: Options) -> list[Any]:
    """As many as asked for, else as many as fit."""
    there, gpus = ray.cluster_resources(), options.gpus_per_worker
    fit = int(there.get("GPU", 0) // gpus) if gpus else int(there.get("CPU", 1) // job.threads)
    if gpus and not fit:
        raise BadInput(f"the cluster has {there.get('GPU', 0):g} GPUs, a worker wants {gpus:g}; see --gpus-per-worker.")
    workers = options.workers or max(1, fit)
    # More workers than fit share the processors; Ray counts in parts of one.
    cpus = min(float(job.threads), int(100 * there.get("CPU", 1) / workers) / 100)
    actor = ray.remote(num_cpus=cpus, num_gpus=gpus, max_restarts=-1, max_task_retries=_RETRIES)(Actor)
    return [actor.remote(job) for _ in range(workers)]


def _spread(ray: Any, actors: list[Any], shards: Iterator[Shard]) -> Iterator[Any]:
    """Each idle actor gets the next shard; a finished one is handed on before its actor gets another."""
    idle, under_way = list(actors), {}
    while True:
        while idle and (shard := next(shards, None)) is not None:
            actor = idle.pop()
            under_way[actor.work.remote(shard)] = (actor, shard)
        if not under_way:
            return
        (ready,), _ = ray.wait(list(under_way), num_returns=1)
        actor, shard = under_way.pop(ready)
        yield _result(ray, ready, shard)
        idle.append(actor)


def _result(ray: Any, reference: Any, shard: Shard) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        raise cause if isinstance(cause, AssayError) else Stopped(f"a worker failed: {cause}") from error
    except ray.exceptions.RayError as error:
        rows = f"rows {shard.rows[0].position} to {shard.rows[-1].position}"
        said = " ".join(str(error).split())[:200]
        raise Stopped(f"workers died {_RETRIES + 1} times on shard {shard.number} ({rows}): {said}") from error
