"""How far a run is: counted by the run, saved at every beat, read by `assay status` and by observers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic, time

from assay.explanations.about import Cost
from assay.progress import lasting
from assay.runs.directory import PROGRESS
from assay.runs.plan import RunPlan
from assay.storage.durable import write_whole


@dataclass(frozen=True)
class Counts:
    """Rows in all, rows kept (those of earlier sessions too), shards likewise, errors, rows a second, seconds left."""

    rows: int
    kept: int
    shards: int
    shards_kept: int
    errors: int
    rate: float | None
    left: float | None


@dataclass(frozen=True)
class Progress(Counts):
    """Besides: model rows asked, those from the cache, when this was counted, rows explained but not kept yet."""

    asked: int
    hits: int
    at: float
    under_way: float = 0.0

    @property
    def hit_share(self) -> float:
        return self.hits / self.asked if self.asked else 0.0

    def line(self) -> str:
        """The state in one line."""
        reached = self.kept + self.under_way
        parts = [f"{reached:,.0f} of {self.rows:,} rows ({reached / max(1, self.rows):.0%})"]
        if self.rate:
            parts.append(f"{self.rate:,.1f} a second")
        if self.left is not None and self.kept < self.rows:
            parts.append(f"{lasting(self.left)} left")
        if self.asked:
            parts.append(f"{self.hit_share:.0%} of model rows from the cache")
        if self.errors:
            parts.append(f"{self.errors:,} errors")
        return ", ".join(parts)

    @classmethod
    def at_path(cls, directory: Path) -> Progress | None:
        try:
            return cls(**json.loads((directory / PROGRESS).read_text()))
        except (OSError, ValueError, TypeError):
            return None


class Tracker:
    """Counts cells (a row under one method) as they are explained, and shards as they are kept."""

    def __init__(self, methods: int) -> None:
        self.methods = methods
        self.rows = self.shards = self.kept = self.shards_kept = self.errors = self.cells = 0
        self.cost = Cost()
        self.before = 0
        self.began = monotonic()

    def begin(self, plan: RunPlan, kept: int, shards: int, errors: int) -> None:
        """What earlier sessions left does not count for the speed."""
        self.kept, self.shards_kept, self.before, self.errors = kept, shards, kept, errors
        self.rows, self.shards = plan.rows, plan.shards
        self.began = monotonic()

    def tell(self, cells: int) -> None:
        self.cells += cells

    def keep(self, rows: int, errors: int, cost: Cost) -> None:
        self.kept, self.shards_kept = self.kept + rows, self.shards_kept + 1
        self.errors, self.cost = self.errors + errors, self.cost + cost
        self.cells = 0

    def now(self) -> Progress:
        """A shard under way counts by its cells, for the speed only."""
        reached = self.kept - self.before + self.cells / self.methods
        spent = monotonic() - self.began
        rate = reached / spent if reached and spent > 0 else None
        left = (self.rows - self.before - reached) / rate if rate else None
        asked, hits = self.cost.sequences, self.cost.hits
        counts = (self.rows, self.kept, self.shards, self.shards_kept, self.errors)
        return Progress(*counts, rate, left, asked, hits, time(), self.cells / self.methods)

    def save(self, directory: Path) -> None:
        if not self.rows:
            return
        write_whole(directory / PROGRESS, json.dumps(asdict(self.now())).encode(), durable=False)
