"""Texts out of files: csv, tsv, jsonl, parquet, and txt with one text a line."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.errors import BadFile, BadInput, UnknownName

Rows = list[Mapping[str, Any]]
_LINE = "text"


def column_of(path: Path, column: str | None, second: str | None = None) -> list[Any]:
    """The texts of a column, or pairs of texts where there is a second one."""
    rows, columns = _table(path)
    if not rows:
        raise BadFile(f"{path} holds no texts.")
    first = _chosen(path, column, columns)
    if second is None:
        return [_cell(path, row, first, i) for i, row in enumerate(rows, start=1)]
    _chosen(path, second, columns)
    return [(_cell(path, row, first, i), _cell(path, row, second, i)) for i, row in enumerate(rows, start=1)]


def lines(data: bytes, name: str) -> list[str]:
    """One text a line; blank lines are no texts."""
    return [line.rstrip("\r") for _, line in _numbered(decoded(data, name))]


def decoded(data: bytes, name: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadFile(f"{name} looks like UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8).")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(
            f"{name} is not UTF-8 (byte 0x{data[error.start]:02x} at position {error.start}); save it as UTF-8, "
            "for example: iconv -f WINDOWS-1252 -t UTF-8."
        ) from None


def _table(path: Path) -> tuple[Rows, list[str]]:
    ending = path.suffix.lower()
    if ending not in _READERS:
        raise BadFile(f"{path} does not end in {', '.join(_READERS)}; rename it to say what it is.")
    try:
        return _READERS[ending](path)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from error


def _delimited(delimiter: str) -> Callable[[Path], tuple[Rows, list[str]]]:
    def read(path: Path) -> tuple[Rows, list[str]]:
        """Strict, as a quote too many would join rows, or a delimiter too many cut a text, and nobody would know."""
        csv.field_size_limit(sys.maxsize)
        stream = io.StringIO(decoded(path.read_bytes(), str(path)), newline="")
        reader = csv.DictReader(stream, delimiter=delimiter, strict=True)
        rows: Rows = []
        try:
            for row in reader:
                if any(row.get(None) or ()):
                    where = f"{path}, line {reader.line_num}"
                    raise BadFile(f"{where}: more fields than there are columns; quote what holds the delimiter.")
                rows.append(row)
        except csv.Error as error:
            raise BadFile(f"{path}, line {reader.line_num + 1} or below: {str(error).rstrip('.')}.") from error
        return rows, list(reader.fieldnames or [])

    return read


def _jsonl(path: Path) -> tuple[Rows, list[str]]:
    rows = [_object(path, line, i) for i, line in _numbered(decoded(path.read_bytes(), str(path)))]
    return rows, list(dict.fromkeys(name for row in rows for name in row))


def _numbered(string: str) -> list[tuple[int, str]]:
    """Lines that are not blank; only a line feed ends one, as a text may hold the other line ends."""
    return [(i, line) for i, line in enumerate(string.split("\n"), start=1) if line.strip()]


def _object(path: Path, line: str, i: int) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise BadFile(f"{path}, line {i} is not JSON: {error}.") from error
    if isinstance(value, str):
        return {_LINE: value}
    if not isinstance(value, dict):
        raise BadFile(f"{path}, line {i} is neither an object nor a string.")
    return value


def _text(path: Path) -> tuple[Rows, list[str]]:
    return [{_LINE: line} for line in lines(path.read_bytes(), str(path))], [_LINE]


def _parquet(path: Path) -> tuple[Rows, list[str]]:
    import pyarrow as pa  # slow to import, and only wanted here
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except pa.ArrowException as error:
        raise BadFile(f"{path} is not a parquet file that can be read: {error}") from error
    return table.to_pylist(), table.column_names


_READERS: dict[str, Callable[[Path], tuple[Rows, list[str]]]] = {
    ".csv": _delimited(","),
    ".tsv": _delimited("\t"),
    ".jsonl": _jsonl,
    ".parquet": _parquet,
    ".txt": _text,
}


def _chosen(path: Path, column: str | None, columns: Sequence[str]) -> str:
    """The named column; without a name, the only one, or the one that is called text."""
    there = ", ".join(map(str, columns))
    if column is not None and column not in columns:
        raise UnknownName(f"{path} has no column {column!r}; its columns are: {there}.")
    if column is not None:
        return column
    if len(columns) == 1 or _LINE in columns:
        return _LINE if _LINE in columns else columns[0]
    raise BadInput(f"say which column of {path} holds the texts, by --column; its columns are: {there}.")


def _cell(path: Path, row: Mapping[str, Any], column: str, i: int) -> str:
    value = row.get(column)
    if value is not None and not isinstance(value, str | int | float):
        raise BadFile(f"{path}, row {i}: the column {column!r} holds {type(value).__name__}, not a text.")
    return "" if value is None else str(value)
