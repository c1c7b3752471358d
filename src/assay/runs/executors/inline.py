"""One process, one engine at a time: the model fills the cores or the GPU by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.runs.executors import Options
from assay.runs.work import Shard, Work


def execute(job: Work, shards: Iterator[Shard], options: Options) -> Iterator[Any]:
    worker = job.worker(options.model)
    for shard in shards:
        yield worker.work(shard, options.tell)
