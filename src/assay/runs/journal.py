"""The journal: one line of JSON for each thing that happened. For people, times and costs; no result reads it.

{"at": 1700000000.0, "what": "handed out", "shard": 3}
{"at": ..., "what": "kept", "shard": 3, "rows": 512, "errors": 0, "seconds": {"lime": 9.1}, "cost": {...}}
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Any

from assay.storage.plain import NOFOLLOW

FILE = "journal.jsonl"


class Journal:
    """Appended to a line at a time, so that a kill can cost at most the last line."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE
        self._write(b"" if self._ends_well() else b"\n")

    def note(self, what: str, **facts: Any) -> None:
        self._write(json.dumps({"at": round(time(), 3), "what": what, "pid": os.getpid(), **facts}).encode() + b"\n")

    def _write(self, line: bytes) -> None:
        handle = os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_WRONLY | NOFOLLOW, 0o644)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)

    def _ends_well(self) -> bool:
        try:
            with self.path.open("rb") as stream:
                stream.seek(-1, os.SEEK_END)
                return stream.read() == b"\n"
        except OSError:  # none yet, or an empty one
            return True


def entries(directory: Path) -> Iterator[dict[str, Any]]:
    """All lines that can be read."""
    try:
        with (directory / FILE).open(encoding="utf-8") as lines:
            for line in lines:
                try:
                    yield json.loads(line)
                except ValueError:
                    continue
    except OSError:
        return
