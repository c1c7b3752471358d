"""Executors: who does the work on the shards.

An executor is a function from shards to finished shards, in any order. It takes the next shard only when it has a
worker for it, and the run keeps a finished shard before it asks for more: so at most one shard per worker is lost.

    def execute(job: Work, shards: Iterator[Shard], options: Options) -> Iterator[Finished]

What is done with a shard is the job's, which makes the workers; what comes back is a `Finished`, or an index's part.
Others (Spark, Dask) come in through the entry-point group `assay.executors`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from assay.errors import UnknownName
from assay.models import TextModel
from assay.runs.work import Shard, Tell, Work

_OURS = {"inline": "assay.runs.executors.inline", "ray": "assay.runs.executors.ray"}


@dataclass(frozen=True)
class Options:
    """How an executor is to work; `model` is the one the run has loaded already, `tell` is called as rows are told."""

    workers: int | None = None
    gpus_per_worker: float = 0.0
    address: str | None = None
    model: TextModel | None = None
    tell: Tell = lambda cells: None


Executor = Callable[[Work, Iterator[Shard], Options], Iterator[Any]]


def find(name: str) -> Executor:
    if name in _OURS:
        return import_module(_OURS[name]).execute  # type: ignore[no-any-return]
    others: dict[str, Any] = {entry.name: entry for entry in entry_points(group="assay.executors")}
    if name not in others:
        raise UnknownName.of("executor", name, [*_OURS, *others])
    return others[name].load()  # type: ignore[no-any-return]
