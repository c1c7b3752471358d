"""The numbers of a paper, as they are printed there: one csv file for each table, in PAPER/published.

    table,line,column,value,as_printed,where
    table_a1,IM,sst2,0.17,0.17 ± 0.27,Table A1

`value` is the first number of what is printed; `where` is the place in the paper or in the authors' release. A line or
a column that has several parts, as a dataset and a metric, has them separated by ", ".
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

from assay.errors import BadFile

COLUMNS = ("table", "line", "column", "value", "as_printed", "where")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
Place = tuple[str, str, str]  # table, line, column


def first_number(printed: str) -> float:
    """The number that what is printed begins with: 0.35 ± 0.21 (0.49) is 0.35."""
    found = _NUMBER.search(printed)
    if found is None:
        raise ValueError(f"there is no number in {printed!r}")
    return float(found.group())


@dataclass(frozen=True)
class PublishedNumber:
    """A number of a paper, and all of what stands in its cell."""

    value: float
    as_printed: str
    where: str

    @property
    def numbers(self) -> tuple[float, ...]:
        """All numbers of the cell: 0.35 ± 0.21 (0.49) has three."""
        return tuple(map(float, _NUMBER.findall(self.as_printed)))


@dataclass(frozen=True)
class Published:
    """The numbers of one paper by table, line and column."""

    numbers: Mapping[Place, PublishedNumber]

    def find(self, table: str, line: str, column: str) -> PublishedNumber | None:
        """None where the paper has no such number."""
        return self.numbers.get((table, line, column))

    def get(self, table: str, line: str, column: str) -> PublishedNumber:
        if (table, line, column) not in self.numbers:
            raise KeyError(f"no number is published in {table} for {line!r} and {column!r}")
        return self.numbers[table, line, column]

    def text(self, table: str, line: str, column: str) -> str:
        """As it is printed; empty where the paper has no such number."""
        found = self.find(table, line, column)
        return "" if found is None else found.as_printed

    def gap(self, table: str, one: tuple[str, str], other: tuple[str, str]) -> str:
        """How much higher the first number is than the second, each by its line and column, to the printed digits."""
        found = [self.find(table, *place) for place in (one, other)]
        first, second = (None if number is None else _printed(number) for number in found)
        return "" if first is None or second is None else str(first - second)

    def lines(self, table: str) -> list[str]:
        """The lines of a table in their order."""
        return list(dict.fromkeys(line for name, line, _ in self.numbers if name == table))


def _printed(number: PublishedNumber) -> Decimal:
    """The first number with the digits that are printed; a binary fraction would add others."""
    found = _NUMBER.search(number.as_printed)
    assert found is not None
    return Decimal(found.group())


@cache
def published(paper: str) -> Published:
    """All tables of a paper, by the name of its study."""
    return read(Path(__file__).parent / paper / "published")


def read(directory: Path) -> Published:
    """The csv files of a directory; a row that cannot be right is an error that names it."""
    numbers: dict[Place, PublishedNumber] = {}
    paths = sorted(directory.glob("*.csv"))
    if not paths:
        raise BadFile(f"there is no csv file of published numbers in {directory}.")
    for path in paths:
        for row, place, number in _rows(path):
            if place in numbers:
                raise BadFile(f"{path}, row {row}: {', '.join(place)} stands there twice.")
            numbers[place] = number
    return Published(numbers)


def _rows(path: Path) -> Iterator[tuple[int, Place, PublishedNumber]]:
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file, strict=True)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise BadFile(f"{path} has the columns {reader.fieldnames}, not {', '.join(COLUMNS)}.")
        for row, cells in enumerate(reader, start=2):
            yield row, *_checked(f"{path}, row {row}", path.stem, cells)


def _checked(row: str, table: str, cells: Mapping[str, str]) -> tuple[Place, PublishedNumber]:
    if None in cells or None in cells.values() or not all(cells.values()):
        raise BadFile(f"{row}: each of {', '.join(COLUMNS)} must have a value.")
    if cells["table"] != table:
        raise BadFile(f"{row}: the table {cells['table']} stands in the file {table}.csv.")
    first = _NUMBER.search(cells["as_printed"])
    if first is None or first.group() != cells["value"]:
        raise BadFile(f"{row}: {cells['value']!r} is not the first number of {cells['as_printed']!r}.")
    place = cells["table"], cells["line"], cells["column"]
    return place, PublishedNumber(float(cells["value"]), cells["as_printed"], cells["where"])
