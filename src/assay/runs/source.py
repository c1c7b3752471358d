"""Where the rows of a run come from: a file, stdin (kept in the run's directory), or a Hugging Face dataset.

A source has a fingerprint, columns and records; it is read as often as needed, one record at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Protocol

from assay.errors import BadFile, BadInput, Stopped, UnknownName
from assay.runs import files
from assay.runs.rows import Columns, Record, Row
from assay.storage.durable import write_whole

_STDIN = "-"


class Source(Protocol):
    """What the plan and the executors need of an input."""

    @property
    def name(self) -> str: ...
    def fingerprint(self) -> str: ...
    def columns(self) -> list[str]: ...
    def records(self, wanted: Sequence[str]) -> Iterator[Record]: ...
    def require_unchanged(self) -> None: ...


@dataclass(frozen=True)
class FileSource:
    """A file, as it was when the run began."""

    path: Path
    form: str
    stamp: files.Stamp

    @classmethod
    def of(cls, path: Path, form: str | None = None) -> FileSource:
        if form is not None and form not in files.FORMATS:
            raise UnknownName.of("format", form, files.FORMATS)
        with files.readable(path):
            return cls(path, form or files.format_of(path), files.Stamp.of(path))

    @property
    def name(self) -> str:
        return str(self.path)

    def fingerprint(self) -> str:
        with files.readable(self.path):
            return files.digest_of(self.path)

    def columns(self) -> list[str]:
        return files.columns(self.path, self.form)

    def records(self, wanted: Sequence[str]) -> Iterator[Record]:
        return files.records(self.path, self.form, wanted)

    def require_unchanged(self) -> None:
        """Rows of another file must not get under the plan of this one."""
        try:
            now = files.Stamp.of(self.path)
        except OSError as error:
            raise Stopped(f"the input {self.path} has vanished ({error.strerror}); put it back") from error
        if now != self.stamp:
            raise Stopped(f"the input {self.path} was changed while the run read it; put the old file back")


@dataclass(frozen=True)
class Input:
    """A source, the columns that count, and how many rows are wanted."""

    source: Source
    columns: Columns
    limit: int | None = None

    @classmethod
    def of(cls, source: Source, columns: Columns, limit: int | None = None) -> Input:
        return cls(source, columns.settled(source.columns(), source.name), limit)

    def rows(self) -> Iterator[Row]:
        return self.columns.rows(islice(self.source.records(self.columns.wanted), self.limit))

    def count(self) -> int:
        rows = sum(1 for _ in islice(self.source.records(self.columns.wanted), self.limit))
        if not rows:
            raise BadFile(f"{self.source.name} holds no rows.")
        return rows


def find(given: str, directory: Path, form: str | None = None) -> Source:
    """The source that a command names: - for stdin, a file, or a Hugging Face dataset by directory or name."""
    if given == _STDIN:
        stream = sys.stdin.buffer if sys.stdin else BytesIO()
        return FileSource.of(spooled(stream, directory, form or "txt"), form or "txt")
    path = Path(given)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BadFile(f"{given} is no plain file, and a run reads its input more than once; give it on stdin, as -.")
    if path.is_file() or (path.suffix and not path.is_dir() and _is_known(path)):
        return FileSource.of(path, form)
    from assay.runs.hub import HubSource

    return HubSource.of(given)


def spooled(stream: BinaryIO, directory: Path, form: str) -> Path:
    """Stdin as a file of the run, so that a resume can read it; a resume may give it again or leave it empty."""
    if form not in files.FORMATS or form == "parquet":
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


def _is_known(path: Path) -> bool:
    """Whether the name says that a file is meant, even if there is none."""
    try:
        return bool(files.format_of(path))
    except BadFile:
        return path.suffix.lower() in (".gz", ".xz", ".json")
