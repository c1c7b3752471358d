"""What a page of a study is made of: small csv files that a run writes into DIR/tables, and that lie beside the page.

    NAME.csv       the cells of a table: table,line,column,ours,low,high,texts,published
    index.csv      of each table its part, title, digits, what is better, how it is drawn, and the notes under it
    claims.csv     the comparisons of each claim: number, interval, rule, and how well the model learned
    facts.csv      settings, commit, machine, versions, time: of the last run, then of earlier ones

A first line that begins with # says where the numbers come from, if not from the run itself.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Self

from assay.errors import BadFile
from assay.statistics.intervals import Estimate
from assay_studies.findings import Findings
from assay_studies.rules import Comparison, Rule
from assay_studies.tables import Cell, Line, Table

_INDEX = ("table", "part", "title", "better", "digits", "drawn", "marks", "notes")
_CLAIMS = ("claim", "about", "name", "ours", "low", "high", "texts", "side", "bound", "published", "over")
_LEARNED = ("performance", "performance_low", "performance_high", "commonest", "aside")
_STUDENT = "freedom"  # the last column of claims.csv, where an interval is one after Student
_BETWEEN = " | "  # between the several notes, or marks, of one field


@dataclass(frozen=True)
class Kept:
    """The tables of a study, the comparisons by their claims, and the facts; `parts` has the heading of each table."""

    tables: Mapping[str, Table]
    claims: Mapping[str, tuple[Comparison, ...]]
    facts: Mapping[str, str]
    parts: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    earlier: tuple[Mapping[str, str], ...] = ()

    @classmethod
    def of(cls, findings: Findings) -> Self:
        claims: dict[str, tuple[Comparison, ...]] = {}
        for one in findings.claims:
            if one.key:
                claims[one.key] = claims.get(one.key, ()) + one.comparisons
        parts = {table.name: part.title for part in findings.parts for table in part.tables}
        return cls({table.name: table for table in findings.tables}, claims, dict(findings.facts), parts)

    def files(self) -> dict[str, bytes]:
        """By their names in the directory."""
        index = ([t.name, self.parts.get(t.name, ""), *_shape(t)] for t in self.tables.values())
        listed = [(key, one) for key, all_of_it in self.claims.items() for one in all_of_it]
        student = [_STUDENT] if any(one.freedom is not None for _, one in listed) else []
        compared = ([key, *_compared(one), *(_number(one.freedom) for _ in student)] for key, one in listed)
        rows = {
            "index.csv": _csv(_INDEX, index),
            "claims.csv": _csv((*_CLAIMS, *_LEARNED, *student), compared),
            "facts.csv": _csv(("run", "fact", "value"), self._facts()),
            **{f"{table.name}.csv": table.to_csv() for table in self.tables.values()},
        }
        head = f"# {self.origin}\n" if self.origin else ""
        return {name: (head + text).encode() for name, text in rows.items()}

    def _facts(self) -> Iterator[tuple[object, ...]]:
        for number, facts in enumerate((self.facts, *self.earlier), start=1):
            yield from ((number, *fact) for fact in facts.items())

    @classmethod
    def read(cls, directory: Path) -> Self:
        """The files of a directory; one that is not there, or cannot be right, is an error that names it."""
        index = _rows(directory / "index.csv")
        tables = {row["table"]: _table(row, _rows(directory / f"{row['table']}.csv")) for row in index}
        compared = groupby(_rows(directory / "claims.csv"), key=lambda row: row["claim"])
        claims = {key: tuple(map(_comparison, rows)) for key, rows in compared}
        rows = _rows(directory / "facts.csv")
        runs = dict.fromkeys(row.get("run", "1") for row in rows) or ["1"]
        facts = [{row["fact"]: row["value"] for row in rows if row.get("run", "1") == run} for run in runs]
        parts = {row["table"]: row["part"] for row in index}
        return cls(tables, claims, facts[0], parts, _origin(directory / "index.csv"), tuple(facts[1:]))


def _csv(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def _shape(table: Table) -> Iterator[object]:
    yield from (table.title, table.better, table.digits, table.drawn)
    yield from (_BETWEEN.join(table.marks), _BETWEEN.join(table.notes))


def _compared(one: Comparison) -> Iterator[object]:
    yield from (one.about, one.name)
    yield from ["", "", "", ""] if one.estimate is None else vars(one.estimate).values()
    yield from ["", ""] if one.rule is None else (one.rule.side, one.rule.bound)
    yield from (one.published, one.over)
    yield from ["", "", ""] if one.performance is None else list(vars(one.performance).values())[:3]
    yield from (_number(one.commonest), one.aside)


def _number(value: float | None) -> object:
    return "" if value is None else value


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines(keepends=True)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}; a page is made of a finished run.") from error


def _origin(path: Path) -> str:
    first = _lines(path)[0]
    return first[1:].strip() if first.startswith("#") else ""


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(line for i, line in enumerate(_lines(path)) if i or not line.startswith("#")))


def _table(about: Mapping[str, str], rows: Sequence[Mapping[str, str]]) -> Table:
    columns = tuple(dict.fromkeys(row["column"] for row in rows))
    starts = range(0, len(rows), len(columns) or 1)
    lines = (Line(rows[i]["line"], tuple(map(_cell, rows[i : i + len(columns)]))) for i in starts)
    shape: dict[str, Any] = {"better": about["better"], "digits": int(about["digits"]), "drawn": about["drawn"]}
    shape |= {name: tuple(filter(None, about[name].split(_BETWEEN))) for name in ("marks", "notes")}
    return Table(about["table"], about["title"], columns, tuple(lines), **shape)


def _cell(row: Mapping[str, str]) -> Cell:
    if row["ours"] and not row["low"]:
        return Cell(published=row["published"], counted=row["ours"])
    return Cell(_estimate(row), row["published"])


def _estimate(row: Mapping[str, str]) -> Estimate | None:
    if not row["ours"]:
        return None
    return Estimate(float(row["ours"]), float(row["low"]), float(row["high"]), int(row["texts"] or 0))


def _comparison(row: Mapping[str, str]) -> Comparison:
    side: Any = row["side"]
    texts = row["texts"]
    learned = {"ours": row["performance"], "low": row["performance_low"], "high": row["performance_high"]}
    return Comparison(
        about=row["about"],
        estimate=_estimate(row),
        rule=Rule(side, float(row["bound"])) if side else None,
        name=row["name"],
        published=row["published"],
        over=row["over"],
        performance=_estimate({**learned, "texts": texts}),
        commonest=float(row["commonest"]) if row["commonest"] else None,
        aside=row["aside"],
        freedom=float(row[_STUDENT]) if row.get(_STUDENT) else None,
    )
