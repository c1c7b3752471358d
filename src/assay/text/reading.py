"""What a sample can be made of, told apart: a path, stdin, a frame, a dataset, or a list of rows."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from assay.errors import BadInput, BadText
from assay.text import formats, tables
from assay.text.columns import Columns
from assay.text.example import Example
from assay.text.row_views import HeldRows, RowSource, TableRows
from assay.text.text import strings_of

STDIN = "-"


def read(source: Any, columns: Columns, name: str | None, form: str | None) -> tuple[RowSource, str]:
    """The rows, and what errors call them."""
    if (table := _table(source, name, form)) is not None:
        return TableRows.of(table, columns, name), name or table.name
    given, called = source if isinstance(source, list | tuple) else _listed(source), name or "the list"
    if given and all(isinstance(row, Mapping) for row in given):
        return TableRows.of(tables.HeldTable(called, tuple(given)), columns, called), called
    if columns.wanted:
        raise BadInput(f"the rows of {called} have no column {columns.wanted[0]!r}; give them as dictionaries.")
    return HeldRows(tuple(_example(row, i, called) for i, row in enumerate(given))), called


def _table(source: Any, name: str | None, form: str | None) -> tables.RecordSource | None:
    """The table that is given or named; None where rows are given."""
    if isinstance(source, str | PathLike):
        if source != STDIN:
            return tables.named(str(source), form)
        return tables.HeldTable(name or "stdin", _from_stdin(form or "txt"))
    pandas = sys.modules.get("pandas")  # who has a frame has imported it
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return tables.FrameTable(name or "the frame", source)
    if isinstance(source, tables.DatasetLike):
        return tables.DatasetTable(name or "the dataset", source)
    return None


def _from_stdin(form: str) -> list[formats.RecordOrError]:
    data = sys.stdin.buffer.read() if sys.stdin else b""
    if not data.strip():
        raise BadInput("there is no text to read on stdin.")
    return formats.held_records(data, form, "stdin")


def _listed(source: Any) -> list[Any]:
    if not isinstance(source, Iterable) or isinstance(source, Mapping | bytes):
        what = "a path, a frame, a dataset, or a list of texts or pairs (text, label)"
        raise BadInput(f"a sample is {what}, not {source!r:.60}.")
    return list(source)


def _example(row: Any, position: int, name: str) -> Example:
    """A row of a list: a text, a pair of text and label, or an Example."""
    where = f"row {position + 1} of {name}"
    if isinstance(row, Example):
        if row.error is not None:
            raise type(row.error)(f"{where}: {row.error}")
        return replace(row, position=position)
    text, label = row if isinstance(row, tuple | list) and len(row) == 2 else (row, None)
    if isinstance(row, tuple | list) and len(row) != 2:
        raise BadInput(f"{where} is no pair (text, label) but {row!r:.60}.")
    if label is not None and not isinstance(label, str | int | np.integer):
        raise BadInput(f"{where} needs a label that is a string or a whole number, not {label!r:.40}.")
    try:
        strings = strings_of(text)
    except BadText as error:
        raise BadText(f"{where}: {error}") from None
    return Example(str(position), strings, None if label is None else str(label), position=position)
