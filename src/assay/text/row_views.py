"""The rows behind a sample, and its parts: the first ones, chosen ones, those of a group, the same with other texts.

Each is read anew for every pass and keeps no row, so a part of a part of a file streams as the file does. Every part
counts its own rows from 0; the ids stay those of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice
from typing import Protocol

import numpy as np

from assay.errors import AssayError, BadFile, UnknownName
from assay.text.columns import Columns, require_column
from assay.text.example import Example
from assay.text.formats import TEXT
from assay.text.tables import RecordSource
from assay.text.text import Row

_SHORTER = "the source of this sample has fewer rows than when they were counted; read it again."


class RowSource(Protocol):
    """RowSource in a fixed order; one that cannot be read comes with its error."""

    def count(self) -> int | None:
        """How many there are, where that is known without reading them."""

    def rows(self, start: int = 0, extra: tuple[str, ...] = ()) -> Iterator[Example]:
        """The rows from position `start` on, with the values of the `extra` columns."""


@dataclass(frozen=True)
class TableRows:
    """The rows of a table."""

    table: RecordSource
    columns: Columns

    @classmethod
    def of(cls, table: RecordSource, columns: Columns, name: str | None = None) -> TableRows:
        """The rows by these columns, where the table has them; `name` is what errors call it."""
        enough = columns.wanted if columns.text is not None else [*columns.wanted, TEXT]
        known, where = table.columns(enough), name or table.name
        if not known and isinstance(first := next(table.records([]), None), AssayError):
            raise BadFile(f"{where} holds no row that can be read: {first}")
        return cls(table, columns.settled(known, where))

    def count(self) -> int | None:
        return self.table.count()

    def rows(self, start: int = 0, extra: tuple[str, ...] = ()) -> Iterator[Example]:
        wanted = list(dict.fromkeys((*self.columns.wanted, *extra)))
        if extra:
            known = self.table.columns(wanted)
            for name in extra:
                require_column(name, known, self.table.name)
        return self.columns.examples(self.table.records(wanted, start), start, extra)


@dataclass(frozen=True)
class HeldRows:
    """RowSource in memory."""

    held: tuple[Example, ...]

    def count(self) -> int:
        return len(self.held)

    def rows(self, start: int = 0, extra: tuple[str, ...] = ()) -> Iterator[Example]:
        for name in extra:
            if any(name not in row.extra for row in self.held):
                raise UnknownName(f"these rows have no column {name!r}; give them as dictionaries, or as a frame.")
        return islice(self.held, start, None)


@dataclass(frozen=True)
class HeadRows:
    """The first rows."""

    of: RowSource
    size: int

    def count(self) -> int | None:
        known = self.of.count()
        return None if known is None else min(self.size, known)

    def rows(self, start: int = 0, extra: tuple[str, ...] = ()) -> Iterator[Example]:
        return islice(self.of.rows(start, extra), max(0, self.size - start))


@dataclass(frozen=True, eq=False)
class PickedRows:
    """The rows at these positions, which are sorted."""

    of: RowSource
    positions: np.ndarray

    def count(self) -> int:
        return len(self.positions)

    def rows(self, start: int = 0, extra: tuple[str, ...] = ()) -> Iterator[Example]:
        wanted = self.positions[start:].tolist()
        if not wanted:
            return
        rows = self.of.rows(wanted[0], extra)
        before = wanted[0]
        for i, position in enumerate(wanted, start):
            row = next(islice(rows, position - before, None), None)
            if row is None:
                raise BadFile(_SHORTER)
            before = position + 1
            yield replace(row, position=i)


class Condition(Protocol):
    """Whether a row belongs to a part."""

    @property
    def extra(self) -> tuple[str, ...]:
        """The columns that it asks for."""

    def __call__(self, row: Example) -> bool: ...


@dataclass(frozen=True)
class InGroup:
    """The rows with this value in a column."""

    column: str
    value: str

    @property
    def extra(self) -> tuple[str, ...]:
        return (self.column,)

    def __call__(self, row: Example) -> bool:
        return row.extra.get(self.column) == self.value


@dataclass(frozen=True)
class InShare:
    """The rows whose key falls between two shares of 1: by their text, or by their id.

    blake2b(seed, key) / 2^64 is even on [0, 1) and depends on nothing else, so a row stays on its side when others
    come or go, and rows of one text are on one side.
    """

    low: float
    high: float
    seed: int
    by_id: bool

    extra: tuple[str, ...] = ()

    def __call__(self, row: Example) -> bool:
        key = "\x1f".join((str(self.seed), *((row.id,) if self.by_id else row.strings)))
        found = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return self.low <= int.from_bytes(found) / 2**64 < self.high


@dataclass(frozen=True)
class WhereRows:
    """The rows that meet a condition."""

    of: RowSource
    condition: Condition

    def count(self) -> None:
        return None

    def rows(self, start: int = 0, extra: tuple[str, ...] = ()) -> Iterator[Example]:
        needed = tuple(dict.fromkeys((*extra, *self.condition.extra)))
        kept = (row for row in self.of.rows(extra=needed) if row.error is not None or self.condition(row))
        return islice((replace(row, position=i) for i, row in enumerate(kept)), start, None)


@dataclass(frozen=True)
class RetextedRows:
    """The same rows with other strings; what people marked in the old ones is gone."""

    of: RowSource
    strings: Sequence[Row]

    def count(self) -> int:
        return len(self.strings)

    def rows(self, start: int = 0, extra: tuple[str, ...] = ()) -> Iterator[Example]:
        rows = self.of.rows(start, extra)
        for strings in islice(self.strings, start, None):
            if (row := next(rows, None)) is None:
                raise BadFile(_SHORTER)
            yield replace(row, strings=strings, marks=())


def counted(rows: RowSource) -> int:
    """How many rows there are, by reading them where that must be; records are quicker to count than rows are made."""
    if (known := rows.count()) is not None:
        return known
    if isinstance(rows, TableRows):
        return sum(1 for _ in rows.table.records(rows.columns.wanted))
    return sum(1 for _ in rows.rows())
