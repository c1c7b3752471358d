"""Which columns of a table hold the texts, the second texts of pairs, the ids and the labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from assay.errors import AssayError, BadFile, BadInput, BadText, UnknownName
from assay.text.example import Example
from assay.text.formats import TEXT, RecordOrError


@dataclass(frozen=True)
class Columns:
    """The names of columns; without a name for the texts, the column called text, or the only one."""

    text: str | None = None
    pair: str | None = None
    id: str | None = None
    label: str | None = None

    @property
    def wanted(self) -> list[str]:
        return [name for name in dict.fromkeys((self.text, self.pair, self.id, self.label)) if name is not None]

    def settled(self, known: Sequence[str], where: str) -> Columns:
        """The same with the text's column named; an error where the table has no such column."""
        if not known:
            raise BadFile(f"{where} holds no row that can be read.")
        for column in self.wanted:
            require_column(column, known, where)
        there = ", ".join(map(str, known))
        if self.text is None and len(known) != 1 and TEXT not in known:
            raise BadInput(f"say which column of {where} holds the texts, by --column; its columns are: {there}.")
        text = self.text or (TEXT if TEXT in known else known[0])
        if self.text is None and (other := next((sign for sign in ";\t|" if sign in text), None)):
            raise BadInput(f"{where} seems to be delimited by {other!r}: a .csv needs commas, a .tsv tabs; save it so.")
        for column in (found := replace(self, text=text)).wanted:
            if list(known).count(column) > 1:
                raise BadInput(f"{where} has more than one column {column!r}; rename all but one.")
        return found

    def examples(
        self, records: Iterable[RecordOrError], start: int = 0, extra: Sequence[str] = ()
    ) -> Iterator[Example]:
        """A row for each record; `extra` are further columns whose values it shall hold."""
        for position, record in enumerate(records, start):
            yield self._example(position, record, extra)

    def _example(self, position: int, record: RecordOrError, extra: Sequence[str]) -> Example:
        if isinstance(record, AssayError):
            return Example(str(position), position=position, error=record)
        more = {name: _plain(record.get(name)) for name in extra}
        name = str(position) if self.id is None else _plain(record.get(self.id)) or str(position)
        label = None if self.label is None else _plain(record.get(self.label)) or None
        try:
            strings = tuple(_string(record, column) for column in (self.text, self.pair) if column is not None)
        except BadText as error:
            return Example(name, label=label, position=position, error=error, extra=more)
        return Example(name, strings, label, position=position, extra=more)


def require_column(column: str, known: Sequence[str], where: str) -> None:
    """An error that names the columns there are, where this is none of them."""
    if column not in known:
        near = get_close_matches(column, list(map(str, known)), n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        there = ", ".join(map(str, known))
        raise UnknownName(f"{where} has no column {column!r}; its columns are: {there}.{hint}")


def _string(record: Mapping[str, Any], column: str) -> str:
    value = present(record.get(column))
    if isinstance(value, str):
        return value
    if value is None:
        raise BadText(f"the column {column!r} is empty in this row.")
    if isinstance(value, int | float):
        return str(value)
    raise BadText(f"the column {column!r} holds {type(value).__name__} in this row, not a text.")


def _plain(value: Any) -> str | None:
    return None if present(value) is None else str(value)


def present(value: Any) -> Any:
    """The value; None for all that stands for an empty cell: NaN of any kind, and what pandas calls NA and NaT."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if isinstance(value, float | np.floating) and not np.isfinite(value) else value
