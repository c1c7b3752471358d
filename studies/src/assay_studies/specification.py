"""Tables and parts of a study as data: what is measured on each text, where it stands in a table, what is claimed.

    PART = PartSpec(
        name="table_a1",
        title="Table A1: mean absolute score of a word",
        measure=...,                       # tasks -> subjects: for each dataset, values of every text by their keys
        tables=[TableSpec(name="table_a1", title=..., rows={("scaled", "IM"): "IM"}, layout="columns")],
        claims=[...],                      # subject -> claims
        published=published("double_trouble"),
    )
    PART.make(tasks)                       # the part, with its cells, intervals, published numbers and claims

A key is a name or a tuple of names. In a table whose `layout` is "columns" the datasets are the columns, and a cell is
what has the key of its row; in "rows" each dataset has all rows, and in "tables" a table of its own: there a cell is
what has the key of its row followed by that of its column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate, Statistic, difference, estimate, mean
from assay.statistics.verdict import Verdict
from assay_studies.claims import Claim
from assay_studies.findings import Part, StudyVerdict
from assay_studies.published import Published
from assay_studies.tables import Cell, Drawn, Line, Table

T = TypeVar("T")
Key: TypeAlias = str | tuple[str, ...]
Names: TypeAlias = Mapping[Any, str] | Sequence[str]  # keys and what they are called, or names that are both


@dataclass(frozen=True)
class Values:
    """What was measured on each text, [texts] or [texts, k], and the statistic that a table shows of it."""

    columns: Floats
    statistic: Statistic = mean

    def estimate(self) -> Estimate | None:
        return estimate(self.columns, self.statistic)

    def __sub__(self, other: Values) -> Estimate | None:
        """The paired difference: both are measured on the same texts."""
        return difference(self.columns, other.columns, self.statistic)


Quantity: TypeAlias = Values | Estimate | Cell | None


@dataclass(frozen=True)
class Subject:
    """A dataset, or a model: `name` as the published numbers have it, and what was measured by its key."""

    name: str
    title: str
    measures: Mapping[Any, Quantity]  # by Key; a Mapping of longer tuples would not be one of tuples to mypy
    notes: tuple[str, ...] = ()  # under a table that shows this subject alone
    facts: Mapping[str, Any] = field(default_factory=dict)  # what its claims need besides
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)  # of its checks, by check and method

    def __post_init__(self) -> None:
        object.__setattr__(self, "measures", {_parts(key): value for key, value in self.measures.items()})

    def __contains__(self, key: Key) -> bool:
        return _parts(key) in self.measures

    def quantity(self, *key: str) -> Quantity:
        return self.measures.get(key)

    def values(self, *key: str) -> Values:
        """What was measured on each text; for claims, which compare."""
        found = self.measures[key]
        assert isinstance(found, Values), key
        return found

    def estimate(self, *key: str) -> Estimate | None:
        return _cell(self.measures.get(key)).ours

    def gap(self, one: Key, other: Key) -> Estimate | None:
        """How much higher the first is, paired over the texts."""
        return self.values(*_parts(one)) - self.values(*_parts(other))


@dataclass(frozen=True, kw_only=True)
class TableSpec:
    """One table; `name` and `title` may hold {name} and {title}, those of the subject of a table of its own.

    `columns` of the layout "columns" are the datasets in their order, measured or not; without them the table has those
    that were measured. In the other layouts a line of which no cell was measured is not in the table; `rows`, and the
    columns of a table of its own, may depend on the subject. `missing` are the sentences under the table about datasets
    that were not measured.
    """

    name: str
    title: str
    rows: Names | Callable[[Subject], Names] = ("",)
    columns: Names | Callable[[Subject], Names] = ()
    layout: Literal["columns", "rows", "tables"] = "columns"
    better: Literal["lower", "higher", ""] = ""
    digits: int = 3
    notes: tuple[str, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    published: str = ""  # the table of the published numbers, if it is not called so
    drawn: Drawn = "dots"
    marks: tuple[str, ...] = ()

    def tables(self, subjects: Sequence[Subject], paper: Published) -> Iterator[Table]:
        """The tables that can be made of these subjects."""
        if self.layout == "columns":
            yield self._datasets_across(subjects, paper)
        elif self.layout == "rows":
            lines = [line for subject in subjects for line in self._lines(subject, paper)]
            yield self._table(self.name, self.title, _names(self.columns), lines, self.notes)
        else:
            for one in subjects:
                if lines := list(self._lines(one, paper, alone=True)):
                    name, title = (words.format(name=one.name, title=one.title) for words in (self.name, self.title))
                    yield self._table(name, title, _names(self.columns, one), lines, (*self.notes, *one.notes))

    def _datasets_across(self, subjects: Sequence[Subject], paper: Published) -> Table:
        known, rows = {subject.name: subject for subject in subjects}, _names(self.rows)
        columns = _names(self.columns) or {s.name: s.title for s in subjects if any(row in s for row in rows)}
        lines = []
        for row, label in rows.items():
            found = ((name, known[name].quantity(*_parts(row)) if name in known else None) for name in columns)
            lines.append(Line(label, tuple(self._cell(value, paper, _parts(row), (name,)) for name, value in found)))
        gone = tuple(note for name, note in self.missing.items() if name not in known)
        return self._table(self.name, self.title, columns, lines, (*self.notes, *gone))

    def _lines(self, subject: Subject, paper: Published, *, alone: bool = False) -> Iterator[Line]:
        columns = [_parts(column) for column in _names(self.columns, subject)]
        for row, label in _names(self.rows, subject).items():
            parts = _parts(row)
            if any((*parts, *column) in subject for column in columns):
                place = (subject.name, *parts)
                cells = (self._cell(subject.quantity(*parts, *column), paper, place, column) for column in columns)
                yield Line(label if alone else ", ".join(filter(None, (subject.title, label))), tuple(cells))

    def _cell(self, value: Quantity, paper: Published, line: tuple[str, ...], column: tuple[str, ...]) -> Cell:
        found = _cell(value)
        if found.published:
            return found
        printed = paper.text(self.published or self.name, ", ".join(line), ", ".join(column))
        return Cell(found.ours, printed, found.counted)

    def _table(
        self, name: str, title: str, columns: Mapping[Any, str], lines: Iterable[Line], notes: tuple[str, ...]
    ) -> Table:
        names = tuple(columns.values())
        return Table(name, title, names, tuple(lines), self.better, self.digits, notes, self.drawn, self.marks)


@dataclass(frozen=True, kw_only=True)
class PartSpec(Generic[T]):
    """One part of a study: what it measures on the tasks, and what it makes of that.

    `tables` may depend on what was measured. `wants` chooses the tasks; `left_out` is the sentence that stands in the
    place of the part where it is not to be made. `settings` are what the part depends on, where these are not the
    tasks; `trains` says whether it also depends on what other models learn from.
    """

    name: str
    title: str
    measure: Callable[[Sequence[T]], Iterable[Subject]]
    tables: Sequence[TableSpec] | Callable[[Sequence[Subject]], Iterable[TableSpec]]
    published: Published
    claims: Sequence[Callable[[Subject], Iterable[Claim]]] = ()
    notes: Callable[[Sequence[T]], Iterable[str]] = lambda tasks: ()
    wants: Callable[[T], bool] = lambda task: True
    left_out: Callable[[Sequence[T]], str] = lambda tasks: ""
    settings: Mapping[str, Any] | None = None
    trains: bool = False

    def make(self, tasks: Sequence[T]) -> Part:
        """Measured on these tasks."""
        chosen = [task for task in tasks if self.wants(task)]
        if reason := self.left_out(chosen):
            return Part(self.name, self.title, notes=(reason,))
        subjects = list(self.measure(chosen))
        return self.of(subjects, self.notes(chosen))

    def of(self, subjects: Sequence[Subject], notes: Iterable[str] = ()) -> Part:
        """Made of what was measured."""
        specs = self.tables(subjects) if callable(self.tables) else self.tables
        tables = [table for spec in specs for table in spec.tables(subjects, self.published)]
        claims = [claim for about in self.claims for subject in subjects for claim in about(subject)]
        verdicts = [StudyVerdict.of(f"{s.title}, {name}", v) for s in subjects for name, v in s.verdicts.items()]
        return Part(self.name, self.title, tuple(tables), tuple(claims), tuple(notes), verdicts=tuple(verdicts))


def on_each(measure: Callable[[T], Subject]) -> Callable[[Sequence[T]], Iterator[Subject]]:
    """A measure of one task as one of all tasks."""
    return lambda tasks: map(measure, tasks)


def _cell(value: Quantity) -> Cell:
    if isinstance(value, Cell):
        return value
    return Cell(value.estimate() if isinstance(value, Values) else value)


def _names(names: Names | Callable[[Subject], Names], subject: Subject | None = None) -> Mapping[Any, str]:
    if callable(names):
        assert subject is not None, "only a table of its own has names that depend on its subject"
        names = names(subject)
    return names if isinstance(names, Mapping) else {name: name for name in names}


def _parts(key: Key) -> tuple[str, ...]:
    """A key as its names; the empty name is no part of it."""
    return key if isinstance(key, tuple) else (key,) if key else ()
