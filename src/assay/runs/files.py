"""Records out of files, one at a time: csv, tsv, jsonl and txt (plain, .gz or .xz), and parquet.

A line that cannot be read comes as an error in its place, so that the run can keep it and go on; bytes that are no
UTF-8 come as lone surrogates, which no text may hold, so that their row alone fails.
"""

from __future__ import annotations

import csv
import gzip
import json
import lzma
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO
from zlib import error as ZlibError

from assay.errors import BadFile
from assay.runs.rows import Record

_TEXT = "text"
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}
_BROKEN = (EOFError, csv.Error, gzip.BadGzipFile, lzma.LZMAError, ZlibError)
_CHUNK = 1 << 20
_ENDS = ". \n"
_NEVER_CLOSED = "unexpected end of data"  # the csv module's words


def format_of(path: Path) -> str:
    """The format that a name tells: reviews.csv.gz is csv."""
    suffixes = [s.lower() for s in path.suffixes]
    plain = suffixes[:-1] if suffixes and suffixes[-1] in _OPENERS else suffixes
    name = plain[-1][1:] if plain else ""
    if name not in FORMATS or (name == "parquet" and plain != suffixes):
        known = ", ".join(f".{known}" for known in FORMATS)
        raise BadFile(f"{path} does not end in {known} (all but parquet also with .gz or .xz); rename it.")
    return name


def digest_of(path: Path) -> str:
    """A digest of all bytes of a file."""
    digest = blake2b(digest_size=16)
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@dataclass(frozen=True)
class Stamp:
    """What tells quickly that a file is another one than before."""

    size: int
    changed: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        stat = path.stat()
        return cls(stat.st_size, stat.st_mtime_ns, stat.st_ino)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Within it, what goes wrong with the file is one sentence."""
    try:
        yield
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {str(error.strerror or error).strip(_ENDS)}.") from error
    except _BROKEN as error:
        raise BadFile(f"{path} is damaged or cut short ({error}); make it anew.") from error


def records(path: Path, form: str, wanted: Sequence[str] | None = None) -> Iterator[Record]:
    """All records; of a parquet file only the wanted columns are read."""
    with readable(path):
        yield from _parquet(path, wanted) if form == "parquet" else _from_text(path, form)


def columns(path: Path, form: str) -> list[str]:
    """The names of the columns; those of jsonl are known only when all of it was read."""
    with readable(path):
        if form == "parquet":
            return list(_opened_parquet(path).schema_arrow.names)
        if form == "txt":
            return [_TEXT]
        with _opened(path) as stream:
            if form == "jsonl":
                return _keys(_jsonl(stream))
            return _header(stream, _DELIMITERS[form])


def _header(stream: TextIO, delimiter: str) -> list[str]:
    csv.field_size_limit(sys.maxsize)
    return list(csv.DictReader(stream, delimiter=delimiter, strict=True).fieldnames or [])


def _from_text(path: Path, form: str) -> Iterator[Record]:
    with _opened(path) as stream:
        yield from FORMATS[form](stream)


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    raw = _OPENERS.get(path.suffix.lower(), open)(path, "rb")
    with raw:
        if raw.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            raise BadFile(f"{path} looks like UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8).")
        raw.seek(0)
        yield TextIOWrapper(raw, encoding="utf-8-sig", errors="surrogateescape", newline="")


def _delimited(stream: TextIO, delimiter: str) -> Iterator[Record]:
    """Strict, as a quote too many would join rows or cut texts and nobody would know."""
    csv.field_size_limit(sys.maxsize)
    reader = csv.DictReader(stream, delimiter=delimiter, strict=True)
    while reader.fieldnames is not None:
        line = reader.line_num + 1
        try:
            yield _fitting(next(reader), reader.line_num)
        except StopIteration:
            return
        except csv.Error as error:
            if _NEVER_CLOSED in str(error):
                raise EOFError(f"a quote at or after line {line} is never closed") from error
            yield BadFile(f"line {reader.reader.line_num} cannot be read: {error}.")


def _fitting(record: dict[Any, Any], line: int) -> Record:
    """A record with more fields than columns has a sign in it that should have been quoted: its texts are cut."""
    if any(record.get(None) or ()):
        return BadFile(f"line {line} has more fields than there are columns; quote what holds the delimiter.")
    return record


def _numbered(stream: TextIO) -> Iterator[tuple[int, str]]:
    """Lines that are not blank; only a line feed ends one, as a text may hold the other line ends."""
    for i, line in enumerate(stream, start=1):
        if line.strip():
            yield i, line


def _jsonl(stream: TextIO) -> Iterator[Record]:
    for i, line in _numbered(_by_line_feed(stream)):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield BadFile(f"line {i} is not JSON: {error}.")
            continue
        if isinstance(value, str):
            yield {_TEXT: value}
        elif isinstance(value, dict):
            yield value
        else:
            yield BadFile(f"line {i} is neither an object nor a string.")


def _lines(stream: TextIO) -> Iterator[Record]:
    for _, line in _numbered(_by_line_feed(stream)):
        yield {_TEXT: line.rstrip("\r\n")}


def _by_line_feed(stream: TextIO) -> TextIO:
    assert isinstance(stream, TextIOWrapper)
    stream.reconfigure(newline="\n")
    return stream


def _keys(found: Iterator[Record]) -> list[str]:
    names: dict[str, None] = {}
    for record in found:
        if not isinstance(record, Exception):
            names.update(dict.fromkeys(record))
    return list(names)


def _parquet(path: Path, wanted: Sequence[str] | None) -> Iterator[Record]:
    import pyarrow as pa  # slow to import

    try:
        for batch in _opened_parquet(path).iter_batches(1024, columns=list(wanted) if wanted else None):
            yield from batch.to_pylist()
    except pa.ArrowException as error:
        raise BadFile(f"{path} is damaged: {error}") from error


def _opened_parquet(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except pa.ArrowException as error:
        raise BadFile(f"{path} is not a parquet file that can be read: {error}") from error


_DELIMITERS = {"csv": ",", "tsv": "\t"}
FORMATS: dict[str, Callable[[Any], Iterator[Record]]] = {
    "csv": partial(_delimited, delimiter=","),
    "tsv": partial(_delimited, delimiter="\t"),
    "jsonl": _jsonl,
    "txt": _lines,
    "parquet": lambda path: _parquet(path, None),
}
