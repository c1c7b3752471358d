"""A row of a dataset: its text or texts, its id, its label; or why it cannot be read.

Each row has a seed of its own, from (seed of the run, id of the row), so that no result depends on the order of rows,
on shards or on workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from assay.errors import AssayError, BadFile, BadInput, BadText, UnknownName
from assay.text.text import TextLike

Record = Mapping[str, Any] | AssayError
_TEXT = "text"


@dataclass(frozen=True)
class Row:
    """`strings` are its one or two texts; `error` says why there are none."""

    number: int
    id: str
    strings: tuple[str, ...] = ()
    label: str | None = None
    error: AssayError | None = None

    @property
    def text(self) -> TextLike:
        return self.strings[0] if len(self.strings) == 1 else (self.strings[0], self.strings[1])

    def seed(self, run: int) -> int:
        """A number of 63 bits that depends on the run's seed and this row's id only."""
        named = f"{run}\x1f{self.id}".encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(named, digest_size=8).digest()) >> 1


@dataclass(frozen=True)
class Columns:
    """Which columns of the input hold what."""

    text: str | None = None
    pair: str | None = None
    id: str | None = None
    label: str | None = None

    def settled(self, known: Sequence[str], where: str) -> Columns:
        """The same with the text's column named; an error where the input has no such column."""
        there = ", ".join(map(str, known))
        if not known:
            raise BadFile(f"{where} holds no row that can be read.")
        for column in (self.text, self.pair, self.id, self.label):
            if column is not None and column not in known:
                raise UnknownName(f"{where} has no column {column!r}; its columns are: {there}.")
        if self.text is None and len(known) != 1 and _TEXT not in known:
            raise BadInput(f"say which column of {where} holds the texts, by --column; its columns are: {there}.")
        text = self.text or (_TEXT if _TEXT in known else known[0])
        if self.text is None and (other := next((sign for sign in ";\t|" if sign in text), None)):
            raise BadInput(f"{where} seems to be parted by {other!r}: a .csv has commas, a .tsv tabs; save it so.")
        return Columns(text, self.pair, self.id, self.label)._told_apart(known, where)

    def _told_apart(self, known: Sequence[str], where: str) -> Columns:
        """The same; an error where another column has the name of one of these."""
        for column in self.wanted:
            if list(known).count(column) > 1:
                raise BadInput(f"{where} has more than one column {column!r}; rename all but one.")
        return self

    @property
    def wanted(self) -> list[str]:
        return [name for name in dict.fromkeys((self.text, self.pair, self.id, self.label)) if name is not None]

    def rows(self, records: Iterator[Record]) -> Iterator[Row]:
        for number, record in enumerate(records):
            yield self._row(number, record)

    def _row(self, number: int, record: Record) -> Row:
        if isinstance(record, AssayError):
            return Row(number, str(number), error=record)
        name = str(number) if self.id is None else _plain(record.get(self.id)) or str(number)
        label = None if self.label is None else _plain(record.get(self.label)) or None
        try:
            strings = tuple(_string(record, column) for column in (self.text, self.pair) if column is not None)
        except BadText as error:
            return Row(number, name, label=label, error=error)
        return Row(number, name, strings, label)


def _string(record: Mapping[str, Any], column: str) -> str:
    value = record.get(column)
    if isinstance(value, str):
        return value
    if value is None:
        raise BadText(f"the column {column!r} is empty in this row.")
    if isinstance(value, int | float):
        return str(value)
    raise BadText(f"the column {column!r} holds {type(value).__name__} in this row, not a text.")


def _plain(value: Any) -> str | None:
    return None if value is None else str(value)
