"""One process, one engine at a time: the model fills the cores or the GPU by itself."""

from __future__ import annotations

from collections.abc import Iterator

from assay.runs.executors import Options
from assay.runs.work import Finished, Job, Shard, Worker


def execute(job: Job, shards: Iterator[Shard], options: Options) -> Iterator[Finished]:
    worker = Worker(job, options.model)
    for shard in shards:
        yield worker.work(shard, options.tell)
