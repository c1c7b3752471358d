"""What `assay status DIR` says: from the files alone, while the run goes on or after it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time

from assay.progress import lasting
from assay.runs.directory import Directory
from assay.runs.plan import RunPlan
from assay.runs.progress import Counts, Progress
from assay.runs.shard import number_of
from assay.storage import lock

_SHOWN = 5  # damaged files in the lines; all of them are in the JSON


@dataclass(frozen=True)
class Status(Counts):
    """`state` is done, running, stopped (and can be resumed), planned or damaged (and can be mended by a resume)."""

    directory: str
    state: str
    owner: str | None
    methods: tuple[str, ...]
    checks: tuple[str, ...]
    model: str
    command: str
    damaged: tuple[str, ...] = ()

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
        lines += [
            f"damaged: {one}; it is set aside and made again when the run goes on" for one in self.damaged[:_SHOWN]
        ]
        lines += [f"damaged: {len(self.damaged) - _SHOWN:,} more"] if len(self.damaged) > _SHOWN else []
        return lines + ([f"to go on: {self.command}"] if self.state in ("stopped", "planned", "damaged") else [])


def status(path: Path) -> Status:
    directory = Directory(path)
    directory.require_plain()
    plan = RunPlan.at(path)
    owner, last = lock.held_by(path), Progress.at_path(path)
    good, bad = directory.accepted(plan)
    done = owner is None and directory.done(plan) is not None
    damaged = tuple(_damaged(plan, good, bad, done))
    return Status(
        directory=str(path),
        state=_state(owner, damaged, done, len(good)),
        rows=plan.rows,
        kept=sum(len(plan.rows_of(number)) for number in good),
        shards=plan.shards,
        shards_kept=len(good),
        errors=last.errors if last else 0,
        rate=last.rate if last else None,
        left=_left(last),
        owner=f"process {owner.pid} on {owner.host}" if owner else None,
        methods=tuple(plan.methods),
        checks=tuple(plan.checks),
        model=plan.settings["model"]["name"],
        command=plan.notes["command"],
        damaged=damaged,
    )


def _state(owner: lock.Owner | None, damaged: Sequence[str], done: bool, shards: int) -> str:
    if owner is not None:
        return "running"
    if damaged:
        return "damaged"
    if done:
        return "done"
    return "stopped" if shards else "planned"


def _damaged(plan: RunPlan, good: Collection[int], bad: Iterable[tuple[Path, str]], done: bool) -> Iterator[str]:
    """Files that do not count and should, and what is missing of a run that is done."""
    found = [(path, why) for path, why in bad if path.exists() and path.suffix == ".parquet"]
    named = {number_of(path) for path, _ in found}
    yield from (f"{path.name} ({why})" for path, why in found if number_of(path) not in good)
    if done:
        lacking = (number for number in range(plan.shards) if number not in good and number not in named)
        yield from (f"shard {number} (its file is gone)" for number in lacking)


def _left(last: Progress | None) -> float | None:
    """What was left at the last beat, less what has passed since."""
    return None if last is None or last.left is None else max(0.0, last.left - (time() - last.at))
