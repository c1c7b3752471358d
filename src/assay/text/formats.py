"""Records out of files, one at a time: csv, tsv, jsonl and txt (plain, .gz or .xz), and parquet.

The one place that knows these formats. A row that cannot be read comes as an error in its place, which names its line,
so that a run can keep it and go on; a file that is damaged as a whole is an error at once.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

from assay.errors import AssayError, BadFile
from assay.text.opening import ENDS, OPENERS, PathLike, decoded, opened, readable

RecordOrError = Mapping[str, Any] | AssayError
Cells = tuple[int, list[str] | BadFile]
TEXT = "text"  # the column of a format that has only one
_DELIMITERS = {"csv": ",", "tsv": "\t"}
_NEVER_CLOSED = "unexpected end of data"  # the csv module's words
_BATCH = 1024


def format_of(path: Path) -> str:
    """The format that a name says: reviews.csv.gz is csv."""
    suffixes = [s.lower() for s in path.suffixes]
    plain = suffixes[:-1] if suffixes and suffixes[-1] in OPENERS else suffixes
    name = plain[-1][1:] if plain else ""
    if name not in FORMATS or (name == "parquet" and plain != suffixes):
        if name in _SHEETS:
            raise BadFile(f"{path} is a spreadsheet; save it as .csv there, or give the frame: pandas.read_excel(...).")
        if name == "json":
            raise BadFile(f"{path} is one JSON value; write an object a line instead, and name the file .jsonl.")
        known = ", ".join(f".{known}" for known in FORMATS)
        raise BadFile(f"{path} does not end in {known} (all but parquet also with .gz or .xz); rename it.")
    return name


def records(path: Path, form: str, wanted: Sequence[str] | None = None, start: int = 0) -> Iterator[RecordOrError]:
    """All records from number `start` on; of a parquet file only the wanted columns and row groups are read."""
    if form == "parquet":
        with readable(path):
            yield from _parquet(path, wanted, start)
        return
    with opened(path, _newline(form), "surrogateescape") as stream:
        yield from islice(_READERS[form](stream), start, None)


def held_records(data: bytes, form: str, name: str) -> list[RecordOrError]:
    """The records of bytes in memory, as of stdin, which cannot be opened anew."""
    with readable(name):
        return list(_READERS[form](decoded(BytesIO(data), name, _newline(form), "surrogateescape")))


def columns(path: Path, form: str, enough: Sequence[str] = ()) -> list[str]:
    """The names of the columns; those of jsonl are read until all of `enough` were seen, or to the end."""
    if form == "parquet":
        with readable(path):
            return list(_opened_parquet(path).schema_arrow.names)
    if form == "txt":
        return [TEXT]
    if form == "jsonl":
        return keys(records(path, form), enough)
    with opened(path, "", "surrogateescape") as stream:
        return next(table_cells(stream, _DELIMITERS[form]), (0, []))[1]  # type: ignore[return-value]


def count(path: Path, form: str) -> int | None:
    """How many records there are, where that is known without reading them."""
    if form != "parquet":
        return None
    with readable(path):
        return int(_opened_parquet(path).metadata.num_rows)


def keys(found: Iterable[RecordOrError], enough: Sequence[str] = ()) -> list[str]:
    """The names in records, in the order in which they appear."""
    names: dict[str, None] = {}
    for record in found:
        if not isinstance(record, Exception):
            names.update(dict.fromkeys(record))
        if enough and all(name in names for name in enough):
            break
    return list(names)


def numbered(stream: IO[str]) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, without their ends; open the stream so that only a line feed ends a line."""
    for i, line in enumerate(stream, start=1):
        if line.strip():
            yield i, line.rstrip("\r\n")


def table_cells(stream: IO[str], delimiter: str, *, quotes: bool = True, strict: bool = True) -> Iterator[Cells]:
    """The cells of each row that is not blank, the header too, and the line on which the row ends.

    Strict, as a quote too many would join rows or cut texts and nobody would know.
    """
    csv.field_size_limit(sys.maxsize)
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    reader = csv.reader(stream, delimiter=delimiter, strict=strict, quoting=quoting)
    header = True
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if header:
                raise
            if _NEVER_CLOSED in str(error):
                raise EOFError(f"a quote at or after line {line} is never closed") from error
            yield reader.line_num, BadFile(f"line {reader.line_num} cannot be read: {error}.")
            continue
        if cells or header:
            yield reader.line_num, cells
        header = False


def _newline(form: str) -> str:
    """The csv module splits lines itself; elsewhere only a line feed ends one, as a text may hold other line ends."""
    return "" if form in _DELIMITERS else "\n"


def _delimited(stream: IO[str], delimiter: str) -> Iterator[RecordOrError]:
    rows = table_cells(stream, delimiter)
    header = next(rows, (0, []))[1]
    assert isinstance(header, list)
    for line, cells in rows:
        if isinstance(cells, BadFile):
            yield cells
        elif any(cells[len(header) :]):  # a sign in it should have been quoted: its texts are cut
            yield BadFile(f"line {line} has more fields than there are columns; quote what holds the delimiter.")
        else:
            yield {name: cells[i] if i < len(cells) else None for i, name in enumerate(header)}


def _jsonl(stream: IO[str]) -> Iterator[RecordOrError]:
    for i, line in numbered(stream):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield BadFile(f"line {i} is not JSON: {error}.")
            continue
        if isinstance(value, str):
            yield {TEXT: value}
        elif isinstance(value, dict):
            yield value
        else:
            yield BadFile(f"line {i} is neither an object nor a string.")


def _lines(stream: IO[str]) -> Iterator[RecordOrError]:
    for _, line in numbered(stream):
        yield {TEXT: line}


def _parquet(path: Path, wanted: Sequence[str] | None, start: int) -> Iterator[RecordOrError]:
    import pyarrow as pa  # slow to import

    file = _opened_parquet(path)
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    first = 0
    while first < len(sizes) and sizes[first] <= start:
        start -= sizes[first]
        first += 1
    groups = range(first, len(sizes))
    try:
        batches = file.iter_batches(_BATCH, row_groups=groups, columns=list(wanted) if wanted else None)
        yield from islice((record for batch in batches for record in batch.to_pylist()), start, None)
    except pa.ArrowException as error:
        raise BadFile(f"{path} is damaged: {str(error).strip(ENDS)}.") from error


def _opened_parquet(path: PathLike) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except pa.ArrowException as error:
        raise BadFile(f"{path} is not a parquet file that can be read: {str(error).strip(ENDS)}.") from error


_READERS: dict[str, Callable[[IO[str]], Iterator[RecordOrError]]] = {
    "csv": partial(_delimited, delimiter=","),
    "tsv": partial(_delimited, delimiter="\t"),
    "jsonl": _jsonl,
    "txt": _lines,
}
FORMATS = (*_READERS, "parquet")
_SHEETS = ("xlsx", "xls", "xlsm", "ods")
