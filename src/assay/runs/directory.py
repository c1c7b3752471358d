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
from assay.runs.journal import FILE as JOURNAL
from assay.runs.plan import FILE as PLAN
from assay.runs.plan import RunPlan
from assay.storage import lock
from assay.storage.durable import PART, write_whole
from assay.storage.plain import require_plain

SHARDS, ASIDE, DONE, VERDICTS, PROGRESS = "shards", "aside", "DONE", "verdicts.parquet", "progress.json"
_OURS = (lock.FILE, PLAN, SHARDS, ASIDE, PROGRESS, DONE, VERDICTS, JOURNAL)
_STDIN = "input."


@dataclass(frozen=True)
class Directory:
    """Where a run lives."""

    path: Path

    def require_ours(self, *, locked_before: bool = False) -> None:
        """Refuse a directory that holds anything but a run: what lies in it under our names may be a user's own.

        A run is known by its plan, or by a shard. One that was killed before its plan was made has left its lock, and
        perhaps the stdin that it had kept: `locked_before` says that there was such a lock.
        """
        if not self.path.is_dir():
            return
        names = {p.name for p in self.path.iterdir() if not p.name.startswith(".")}
        kept = {name for name in names if name.startswith(_STDIN)}
        require_plain(self.path, [*_OURS, *sorted(kept)])
        if PLAN in names:
            RunPlan.at(self.path)
            return
        others = names - {lock.FILE} - (kept if locked_before else set())
        if others and not (others <= {*_OURS, *kept} and self._holds_a_shard()):
            raise BadInput(f"{self.path} holds other files ({min(others)}) and no run; use another --out.")

    def require_plain(self) -> None:
        """Refuse to read a run in which something under our names, or a shard, is a link: it is another's."""
        require_plain(self.path, _OURS)
        require_plain(self.shards, (path.name for path in self.named_shards()))

    def _holds_a_shard(self) -> bool:
        """The name of a shard holds the digest of its bytes, which no other file has."""
        from assay.runs.shard import is_intact

        return any(is_intact(path) for path in self.named_shards())

    def furnish(self) -> None:
        """The folders of a run that is planned."""
        self.shards.mkdir(exist_ok=True)
        self.aside.mkdir(exist_ok=True)

    def leave(self, before: Collection[str]) -> None:
        """Take back what was made since, where no plan has come of it."""
        if not self.planned:
            with suppress(OSError):
                for path in self.path.glob(f"{_STDIN}*"):
                    if path.name not in before:
                        path.unlink()

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
        from assay.runs.trusting import require_checked

        good: dict[int, Path] = {}
        bad = [(path, "it was never finished") for path in self.shards.glob(f".*{PART}")]
        for path in self.named_shards():
            number = number_of(path)
            try:
                if deep:
                    require_whole(path, plan.digest, plan.rows_of(number), deep=True)
                else:
                    require_checked(path, plan)
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

    def done(self, plan: RunPlan) -> dict[str, Any] | None:
        """What the run of this plan said at its end."""
        try:
            facts = dict(json.loads((self.path / DONE).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return facts if facts.get("plan") == plan.digest else None
