"""Cells of csv files that people open in spreadsheets: none is a formula, and each reads back as it was.

A spreadsheet runs a cell that starts with = + - @ (or a wide form of them, or after a tab or a line end). Such a cell
gets an apostrophe in front, which spreadsheets take as "this is text"; so does one that has apostrophes before such a
sign, or the way back would take one too many.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

_STARTS = "=+-@\t\r\n＝＋－＠"
_GUARD = "'"


def guarded(value: Any) -> Any:
    """A cell that no spreadsheet runs; numbers stay numbers."""
    return f"{_GUARD}{value}" if isinstance(value, str) and _is_formula(value) else value


def unguarded(cell: str) -> str:
    """The string that was guarded."""
    return cell[1:] if cell.startswith(_GUARD) and _is_formula(cell[1:]) else cell


def guarded_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as csv, every cell guarded; the columns are all names that a row has."""
    out = io.StringIO()
    names = dict.fromkeys(name for row in rows for name in row)
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)  # a bare carriage return too
    writer.writerow(map(guarded, names))
    writer.writerows([guarded(row.get(name)) for name in names] for row in rows)
    return out.getvalue()


def _is_formula(string: str) -> bool:
    rest = string.lstrip(_GUARD)
    return bool(rest) and rest[0] in _STARTS
