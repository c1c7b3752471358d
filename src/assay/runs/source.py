"""What a run reads: a file, stdin (kept in the run's directory), or a Hugging Face dataset, and which columns."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from assay.errors import BadFile, BadInput
from assay.storage.durable import write_whole
from assay.text import formats, tables
from assay.text.columns import Columns
from assay.text.reading import STDIN
from assay.text.row_views import TableRows
from assay.text.sample import Sample
from assay.text.tables import DatasetTable, FileTable


@dataclass(frozen=True)
class Input:
    """The table that is read, its columns by name, and the rows that are wanted of it."""

    table: FileTable | DatasetTable
    columns: Columns
    sample: Sample

    @classmethod
    def of(cls, table: FileTable | DatasetTable, columns: Columns, limit: int | None = None) -> Input:
        rows = TableRows.of(table, columns)
        sample = Sample(rows, table.name)
        return cls(table, rows.columns, sample if limit is None else sample.head(limit))

    def count(self) -> int:
        """How many rows there are, those that cannot be read too."""
        if not self.sample:
            raise BadFile(f"{self.table.name} holds no rows.")
        return len(self.sample)


def find(given: str, directory: Path, form: str | None = None) -> FileTable | DatasetTable:
    """The table that a command names: - for stdin, a file, or a Hugging Face dataset by directory or name."""
    if given != STDIN:
        return tables.named(given, form)
    stream = sys.stdin.buffer if sys.stdin else BytesIO()
    return FileTable.of(spooled(stream, directory, form or "txt"), form or "txt")


def spooled(stream: BinaryIO, directory: Path, form: str) -> Path:
    """Stdin as a file of the run, so that a resume can read it; a resume may give it again or leave it empty."""
    if form not in formats.FORMATS or form == "parquet":
        raise BadInput(f"stdin is read as txt, jsonl, csv or tsv, not {form!r}; say which by --format.")
    path = directory / f"input.{form}"
    data = b"" if stream.isatty() else stream.read()
    if path.exists():
        if data.strip() and data != path.read_bytes():
            raise BadInput(f"{directory} holds a run of another stdin; use another --out.")
        return path
    if not data.strip():
        raise BadInput("there is no text to read on stdin.")
    write_whole(path, data)
    return path
