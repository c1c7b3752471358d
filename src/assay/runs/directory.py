"""The directory of a run, and what may count in it.

plan.json       what is run                     shards/         the results
journal.jsonl   who did what, and how long      aside/          what did not count, kept for a look
lock            who is at work                  verdicts.parquet, DONE      made at the end, after all was verified
progress.json   how far the run is              input.*         stdin, if the run was given that
"""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from assay.errors import BadInput
from assay.runs.plan import FILE as PLAN
from assay.runs.plan import RunPlan
from assay.storage import lock
from assay.storage.durable import PART, write_whole

SHARDS, ASIDE, DONE, VERDICTS, PROGRESS = "shards", "aside", "DONE", "verdicts.parquet", "progress.json"
_OURS = {lock.FILE, SHARDS, ASIDE, PROGRESS, DONE, VERDICTS, "journal.jsonl"}
_STDIN = "input."


@dataclass(frozen=True)
class Directory:
    """Where a run lives."""

    path: Path

    @classmethod
    def made(cls, path: Path) -> Directory:
        """The directory, made where it is missing; one that holds other things is refused."""
        if path.exists() and not path.is_dir():
            raise BadInput(f"{path} is a file, and --out takes a directory; use another.")
        path.mkdir(parents=True, exist_ok=True)
        names = {p.name for p in path.iterdir() if not p.name.startswith((".", _STDIN))}
        if PLAN not in names and (others := names - _OURS):
            raise BadInput(f"{path} holds other files ({min(others)}) and no run; use another --out.")
        made = cls(path)
        made.shards.mkdir(exist_ok=True)
        made.aside.mkdir(exist_ok=True)
        return made

    def leave(self, before: Collection[str] | None) -> None:
        """Take back what was made since, where nothing has come of it; None where the directory itself is new."""
        if self.planned:
            return
        with suppress(OSError):  # what is not empty stays
            for path in self.path.glob(f"{_STDIN}*"):
                if path.name not in (before or ()):
                    path.unlink()
            for place in (self.shards, self.aside, *([self.path] if before is None else [])):
                place.rmdir()

    @property
    def planned(self) -> bool:
        return (self.path / PLAN).exists()

    @property
    def shards(self) -> Path:
        return self.path / SHARDS

    @property
    def aside(self) -> Path:
        return self.path / ASIDE

    def named_shards(self) -> list[Path]:
        """All files that are called like shards, in order."""
        return sorted(p for p in self.shards.glob("*.parquet") if p.name.partition("-")[0].isdecimal())

    def accepted(self, plan: RunPlan, *, deep: bool = False) -> tuple[dict[int, Path], list[tuple[Path, str]]]:
        """The whole shard of each number, and the files that do not count, each with the reason."""
        from assay.runs.shard import BadShard, number_of, require_whole

        good: dict[int, Path] = {}
        bad = [(path, "it was never finished") for path in self.shards.glob(f".*{PART}")]
        for path in self.named_shards():
            number = number_of(path)
            try:
                require_whole(path, plan.digest, plan.rows_of(number), deep=deep)
            except (BadShard, OSError) as error:
                bad.append((path, str(error)))
                continue
            if number in good:
                bad.append((path, "it is a second copy"))
            else:
                good[number] = path
        return good, bad

    def set_aside(self, path: Path) -> Path:
        """Moved away, never deleted."""
        place = self.aside / f"{path.name}.{uuid4().hex[:6]}"
        path.rename(place)
        return place

    def finish(self, facts: dict[str, Any]) -> None:
        write_whole(self.path / DONE, json.dumps(facts, indent=1).encode())

    @property
    def done(self) -> dict[str, Any] | None:
        """What the run said at its end."""
        try:
            return dict(json.loads((self.path / DONE).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return None
