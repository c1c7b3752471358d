"""How a run is carried out: its directory, the size of a shard, who computes. What it computes is a Request."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Execution:
    """The directory and the means; `command` is what a user types to go on."""

    out: Path
    shard_size: int = 512
    threads: int | None = None
    executor: str = "inline"
    workers: int | None = None
    gpus_per_worker: float = 0.0
    address: str | None = None
    max_error_rate: float = 0.05
    command: str = "the same command"
