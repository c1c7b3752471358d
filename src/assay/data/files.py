"""The rows of files as they are published, and where each stands; what is wrong with one is said with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from assay.errors import BadFile
from assay.text.formats import numbered, table_cells
from assay.text.opening import PathLike as PathLike
from assay.text.opening import opened as opened


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Somewhere in a file."""

    path: PathLike
    number: int
    unit: str = "line"

    def refuse(self, what: str) -> NoReturn:
        raise BadFile(f"{self.path}, {self.unit} {self.number}: {what}.")


@dataclass(frozen=True)
class Record:
    """Named values and where they stand; a value of another kind than asked for is refused."""

    place: FilePlace
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

    def _of(self, name: str, kinds: tuple[type, ...], wanted: str) -> Any:
        value = self.values.get(name)
        if not isinstance(value, kinds) or isinstance(value, bool):
            found = f"not {value!r:.60}" if name in self.values else f"there are: {', '.join(map(str, self.values))}"
            self.place.refuse(f"{name!r} must be {wanted}, {found}")
        return value


def lines(path: PathLike) -> Iterator[tuple[FilePlace, str]]:
    """The lines that are not blank, without their ends; only a line feed ends a line."""
    with opened(path, "\n") as file:
        for number, line in numbered(file):
            yield FilePlace(path, number), line


def objects(path: PathLike) -> Iterator[Record]:
    """The objects of a .jsonl file."""
    for place, line in lines(path):
        yield _object(place, line)


def whole(path: PathLike) -> Record:
    """The one object of a .json file."""
    with opened(path) as file:
        return _object(FilePlace(path, 1), file.read())


def table(path: PathLike, names: Sequence[str] | None = None, *, tabs: bool = False) -> Iterator[Record]:
    """The rows of a .csv file, or of a .tsv file without quotes; `names` where it has no header."""
    header = names
    with opened(path, "") as file:
        for line, cells in table_cells(file, "\t" if tabs else ",", quotes=not tabs, strict=False):
            place = FilePlace(path, line)
            if isinstance(cells, BadFile):
                raise BadFile(f"{path}, {cells}")
            if not cells:
                continue
            if header is None:
                header = cells
            elif len(cells) != len(header):
                place.refuse(f"this row has {len(cells)} cells, not {len(header)} ({', '.join(header)})")
            else:
                yield Record(place, dict(zip(header, cells, strict=True)))


def _object(place: FilePlace, string: str) -> Record:
    try:
        value = json.loads(string)
    except (ValueError, RecursionError) as error:
        place.refuse(f"this is not JSON ({error})")
    if not isinstance(value, dict):
        place.refuse(f"this must be an object, not {value!r:.60}")
    return Record(place, value)
