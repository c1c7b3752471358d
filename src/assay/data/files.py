"""Files as they are published: plain, .gz or .xz, in UTF-8; what is wrong with one is said with its line."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from assay.errors import BadFile

PathLike = str | Path
_BROKEN = (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError)


@dataclass(frozen=True)
class Place:
    """Somewhere in a file."""

    path: PathLike
    number: int
    unit: str = "line"

    def refuse(self, what: str) -> NoReturn:
        raise BadFile(f"{self.path}, {self.unit} {self.number}: {what}.")


@dataclass(frozen=True)
class Record:
    """Named values and where they stand; a value of another kind than asked for is refused."""

    place: Place
    values: Mapping[str, Any]

    def __contains__(self, name: str) -> bool:
        return self.values.get(name) is not None

    def string(self, name: str) -> str:
        return str(self._of(name, (str,), "a string"))

    def name(self, name: str) -> str | None:
        """A label or an id: a string or a number, or nothing."""
        return str(self._of(name, (str, int), "a string or a whole number")) if name in self else None

    def number(self, name: str) -> int:
        return int(self._of(name, (int,), "a whole number"))

    def numbers(self, name: str) -> list[int]:
        values = self._of(name, (list,), "a list of whole numbers")
        if not all(type(value) is int for value in values):
            self.place.refuse(f"{name!r} must be a list of whole numbers, not {values!r:.60}")
        return list(values)

    def strings(self, name: str) -> list[str]:
        values = self._of(name, (list,), "a list of strings")
        if not all(isinstance(value, str) for value in values):
            self.place.refuse(f"{name!r} must be a list of strings, not {values!r:.60}")
        return list(values)

    def records(self, name: str) -> list[Record]:
        return [self.inner(value, name) for value in self._of(name, (list,), "a list of objects")]

    def record(self, name: str) -> Record:
        return self.inner(self.values.get(name), name)

    def inner(self, value: Any, name: str) -> Record:
        if not isinstance(value, dict):
            self.place.refuse(f"{name!r} must hold objects, not {value!r:.60}")
        return Record(self.place, value)

    def _of(self, name: str, kinds: tuple[type, ...], said: str) -> Any:
        value = self.values.get(name)
        if not isinstance(value, kinds) or isinstance(value, bool):
            found = f"not {value!r:.60}" if name in self.values else f"there are: {', '.join(map(str, self.values))}"
            self.place.refuse(f"{name!r} must be {said}, {found}")
        return value


def lines(path: PathLike) -> Iterator[tuple[Place, str]]:
    """The lines that are not blank, without their ends; only a line feed ends a line."""
    with opened(path, newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield Place(path, number), line.rstrip("\r\n")


def objects(path: PathLike) -> Iterator[Record]:
    """The objects of a .jsonl file."""
    for place, line in lines(path):
        yield _object(place, line)


def whole(path: PathLike) -> Record:
    """The one object of a .json file."""
    with opened(path) as file:
        return _object(Place(path, 1), file.read())


def table(path: PathLike, names: Sequence[str] | None = None, *, tabs: bool = False) -> Iterator[Record]:
    """The rows of a .csv file, or of a .tsv file without quotes; `names` where it has no header."""
    csv.field_size_limit(sys.maxsize)
    with opened(path, newline="") as file:
        rows = _cells(path, csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if tabs else csv.reader(file))
        header = names or next(rows, (Place(path, 1), ()))[1]
        for place, cells in rows:
            if len(cells) != len(header):
                place.refuse(f"this row has {len(cells)} cells, not {len(header)} ({', '.join(header)})")
            yield Record(place, dict(zip(header, cells, strict=True)))


def _cells(path: PathLike, reader: Any) -> Iterator[tuple[Place, Sequence[str]]]:
    """Rows that are not blank, and the line on which each ends."""
    try:
        for cells in reader:
            if cells:
                yield Place(path, reader.line_num), cells
    except csv.Error as error:
        Place(path, reader.line_num).refuse(str(error))


@contextmanager
def opened(path: PathLike, newline: str | None = None) -> Iterator[IO[str]]:
    """The file as text, unpacked by what its first bytes say."""
    try:
        with open(path, "rb") as raw, _unpacked(raw) as packed:
            yield io.TextIOWrapper(packed, encoding="utf-8-sig", newline=newline)
    except _BROKEN as error:
        said = getattr(error, "strerror", None) or error
        raise BadFile(f"{path} cannot be read: {said}.") from error


def _unpacked(raw: io.BufferedReader) -> IO[bytes]:
    start = raw.peek(6)[:6]
    if start.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw))
    return lzma.open(raw) if start == b"\xfd7zXZ\x00" else raw


def _object(place: Place, string: str) -> Record:
    try:
        value = json.loads(string)
    except (ValueError, RecursionError) as error:
        place.refuse(f"this is not JSON ({error})")
    if not isinstance(value, dict):
        place.refuse(f"this must be an object, not {value!r:.60}")
    return Record(place, value)
