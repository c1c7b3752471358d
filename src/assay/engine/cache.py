"""What has been answered already: in memory within a run, on disk across runs if a file is named.

Memory is bounded: each entry is weighed, and the oldest go first. The disk keeps predictions only (a few numbers a
row), under a key made of the model's fingerprint and the row, so that a changed model never meets an old answer.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import numpy as np

from assay.errors import BadFile
from assay.models.batching import holds_errors
from assay.statistics.arrays import Floats
from assay.text.text import Row


class Memo:
    """Answers by row; when the budget (roughly bytes) is spent, the rows that came together longest ago go first."""

    def __init__(self, budget: int = 16_000_000) -> None:
        self.budget, self.used = budget, 0
        self._answers: dict[Hashable, Any] = {}
        self._came: deque[tuple[list[Hashable], int]] = deque()
        self.get = self._answers.get

    def __len__(self) -> int:
        return len(self._answers)

    def put(self, rows: Iterable[Hashable], answers: Iterable[Any]) -> None:
        """Remember the answers, of more than fit the last; errors are not remembered."""
        new = list(zip(rows, answers, strict=True))
        if holds_errors([answer for _, answer in new]):
            new = [both for both in new if not isinstance(both[1], Exception)]
        fresh = [row for row, _ in new]
        weights = _weights(fresh)
        first = _fitting(weights, self.budget)
        self._came.append((fresh[first:], sum(weights[first:])))
        self._answers.update(new[first:])
        self.used += self._came[-1][1]
        while self.used > self.budget:
            self._forget()

    def _forget(self) -> None:
        """The rows that came longest ago."""
        rows, weight = self._came.popleft()
        for row in rows:
            self._answers.pop(row, None)
        self.used -= weight


def _fitting(weights: Sequence[int], budget: int) -> int:
    """From where on all of them fit into the budget."""
    if sum(weights) <= budget:
        return 0
    return len(weights) - int(np.searchsorted(np.cumsum(weights[::-1]), budget, side="right"))


def _weights(rows: Sequence[Hashable]) -> list[int]:
    """Of the rows of one question, which are all alike."""
    first = rows[0] if rows else None
    if type(first) is tuple and all(isinstance(part, str) for part in first):
        return [200 + sum(map(len, row)) for row in cast("Sequence[Row]", rows)]
    return list(map(_weight, rows))


def _weight(row: Hashable) -> int:
    """Roughly the bytes of an entry: a character of a string is one, a word of a text thirty-two in every sequence."""
    if not isinstance(row, tuple):
        return 200
    if isinstance(row[0], str):
        return 200 + sum(map(len, row))
    return (200 + 32 * len(row[0])) * int(getattr(row, "sequences", 1))


class Disk:
    """Predictions in one SQLite file; a file that cannot be read as such is refused."""

    def __init__(self, path: Path | str, fingerprint: str) -> None:
        self.fingerprint = fingerprint.encode()
        try:
            self._db = sqlite3.connect(path, check_same_thread=False)  # the engine lets one thread at a time
            self._db.execute("create table if not exists answers (key blob primary key, value blob) without rowid")
        except sqlite3.Error as error:
            raise BadFile(f"{path} cannot be used as a cache ({error}); delete it or name another file.") from error

    def get(self, rows: Sequence[Row]) -> list[Floats | None]:
        query = "select value from answers where key = ?"
        found = [self._db.execute(query, (self._key(row),)).fetchone() for row in rows]
        return [np.frombuffer(value[0]) if value else None for value in found]

    def put(self, rows: Iterable[Row], answers: Iterable[Any]) -> None:
        known = [(self._key(r), a.tobytes()) for r, a in zip(rows, answers, strict=True) if isinstance(a, np.ndarray)]
        with self._db:
            self._db.executemany("insert or replace into answers values (?, ?)", known)

    def _key(self, row: Row) -> bytes:
        parts = [self.fingerprint, *(part.encode() for part in row)]
        return blake2b(b"".join(len(part).to_bytes(8) + part for part in parts), digest_size=16).digest()
