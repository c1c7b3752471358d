"""What `assay status DIR` says: from the files alone, while the run goes on or after it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import time

from assay.progress import lasting
from assay.runs.directory import Directory
from assay.runs.plan import RunPlan
from assay.runs.progress import Counts, Progress
from assay.runs.shard import number_of
from assay.storage import lock


@dataclass(frozen=True)
class Status(Counts):
    """`state` is done, running, stopped (and can be resumed) or planned."""

    directory: str
    state: str
    owner: str | None
    methods: tuple[str, ...]
    checks: tuple[str, ...]
    model: str
    command: str

    def lines(self) -> list[str]:
        done = f"{self.kept:,} of {self.rows:,} rows, {self.shards_kept:,} of {self.shards:,} shards"
        speed = [f"{self.rate:,.1f} rows a second"] if self.rate and self.state == "running" else []
        speed += [f"about {lasting(self.left)} left"] if self.left and self.state == "running" else []
        tests = f", checks {', '.join(self.checks)}" if self.checks else ""
        lines = [
            f"{self.directory}: {self.state}{f' ({self.owner})' if self.owner else ''}",
            f"{', '.join(self.methods)} on {self.model}{tests}",
            ", ".join([done, *speed, *([f"{self.errors:,} errors"] if self.errors else [])]),
        ]
        return lines + ([f"to go on: {self.command}"] if self.state in ("stopped", "planned") else [])


def status(path: Path) -> Status:
    directory, plan = Directory(path), RunPlan.at(path)
    numbers = {number_of(file) for file in directory.named_shards()}
    kept = sum(len(plan.rows_of(number)) for number in numbers)
    owner, last = lock.held_by(path), Progress.at_path(path)
    return Status(
        directory=str(path),
        state=_state(directory, owner, len(numbers)),
        rows=plan.rows,
        kept=kept,
        shards=plan.shards,
        shards_kept=len(numbers),
        errors=last.errors if last else 0,
        rate=last.rate if last else None,
        left=_left(last),
        owner=f"process {owner.pid} on {owner.host}" if owner else None,
        methods=tuple(plan.methods),
        checks=tuple(plan.checks),
        model=plan.settings["model"]["name"],
        command=plan.notes["command"],
    )


def _state(directory: Directory, owner: lock.Owner | None, shards: int) -> str:
    if owner is not None:
        return "running"
    if directory.done is not None:
        return "done"
    return "stopped" if shards else "planned"


def _left(last: Progress | None) -> float | None:
    """What was left at the last beat, less what has passed since."""
    return None if last is None or last.left is None else max(0.0, last.left - (time() - last.at))
