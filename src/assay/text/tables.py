"""Tables of named columns that a sample is read from: a file, a frame, records in memory, a Hugging Face dataset.

A table is read as often as needed, one record at a time; only records in memory are held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from assay.errors import BadFile, BadInput, Stopped, UnknownName
from assay.text import formats
from assay.text.formats import RecordOrError
from assay.text.opening import Stamp, digest_of, readable

_BATCH = 1024


class RecordSource(Protocol):
    """What a sample needs of its source."""

    @property
    def name(self) -> str: ...
    def columns(self, enough: Sequence[str] = ()) -> list[str]:
        """The names of the columns; reading may stop when all of `enough` were seen."""

    def count(self) -> int | None:
        """How many records there are, where that is known without reading them."""

    def records(self, wanted: Sequence[str], start: int = 0) -> Iterator[RecordOrError]:
        """The wanted columns of the records from number `start` on."""


@dataclass(frozen=True)
class FileTable:
    """A file, as it was when it was first looked at; opened anew for each pass."""

    path: Path
    form: str
    stamp: Stamp

    @classmethod
    def of(cls, path: Path, form: str | None = None) -> FileTable:
        if form is not None and form not in formats.FORMATS:
            raise UnknownName.of("format", form, formats.FORMATS)
        with readable(path):
            return cls(path, form or formats.format_of(path), Stamp.of(path))

    @property
    def name(self) -> str:
        return str(self.path)

    def columns(self, enough: Sequence[str] = ()) -> list[str]:
        return formats.columns(self.path, self.form, enough)

    def count(self) -> int | None:
        return formats.count(self.path, self.form)

    def records(self, wanted: Sequence[str], start: int = 0) -> Iterator[RecordOrError]:
        return formats.records(self.path, self.form, wanted, start)

    def fingerprint(self) -> str:
        """A digest of the whole file, quicker than one of its rows; a run knows its input by it."""
        with readable(self.path):
            return digest_of(self.path)

    def require_unchanged(self) -> None:
        """Rows of another file must not get under the plan of this one."""
        try:
            now = Stamp.of(self.path)
        except OSError as error:
            raise Stopped(f"the input {self.path} has vanished ({error.strerror}); put it back") from error
        if now != self.stamp:
            raise Stopped(f"the input {self.path} was changed while the run read it; put the old file back")


@dataclass(frozen=True)
class HeldTable:
    """Records in memory."""

    name: str
    held: Sequence[RecordOrError]

    def columns(self, enough: Sequence[str] = ()) -> list[str]:
        return formats.keys(self.held, enough)

    def count(self) -> int:
        return len(self.held)

    def records(self, wanted: Sequence[str], start: int = 0) -> Iterator[RecordOrError]:
        return islice(self.held, start, None)


@dataclass(frozen=True)
class FrameTable:
    """A pandas frame; an empty cell is None."""

    name: str
    frame: Any

    def columns(self, enough: Sequence[str] = ()) -> list[str]:
        return list(self.frame.columns)

    def count(self) -> int:
        return len(self.frame)

    def records(self, wanted: Sequence[str], start: int = 0) -> Iterator[RecordOrError]:
        frame = self.frame[list(wanted)]
        for at in range(start, len(frame), _BATCH):
            part = frame.iloc[at : at + _BATCH].astype(object)
            yield from part.where(part.notna(), None).to_dict("records")


@runtime_checkable
class DatasetLike(Protocol):
    """As much of a datasets.Dataset as is used here."""

    column_names: Any

    def select_columns(self, names: list[str]) -> Iterable[Mapping[str, Any]]: ...


@dataclass(frozen=True)
class DatasetTable:
    """A dataset that the library `datasets` has opened; it does not change while it is open."""

    name: str
    dataset: Any

    @classmethod
    def of(cls, given: str) -> DatasetTable:
        """A directory made by save_to_disk, or NAME or NAME:SPLIT of the hub."""
        name, _, split = given.partition(":") if not Path(given).exists() else (given, "", "")
        return cls(given, _one_split(_opened(name), split, name))

    def columns(self, enough: Sequence[str] = ()) -> list[str]:
        return list(self.dataset.column_names)

    def count(self) -> int:
        return len(self.dataset)

    def records(self, wanted: Sequence[str], start: int = 0) -> Iterator[RecordOrError]:
        rows = self.dataset.select_columns(list(wanted))
        return iter(rows.select(range(start, len(rows)))) if start else iter(rows)

    def fingerprint(self) -> str:
        return str(self.dataset._fingerprint)

    def require_unchanged(self) -> None:
        """A dataset is kept by its own library under its fingerprint."""


def named(given: str, form: str | None = None) -> FileTable | DatasetTable:
    """What a name stands for: a file, or a Hugging Face dataset by its directory or its name."""
    path = Path(given)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BadFile(f"{given} is no plain file, and it is read more than once; give it on stdin, as -.")
    if path.is_file() or (path.suffix and not path.is_dir() and _is_known(path)):
        return FileTable.of(path, form)
    return DatasetTable.of(given)


def _is_known(path: Path) -> bool:
    """Whether the name says that a file is meant, even if there is none."""
    try:
        return bool(formats.format_of(path))
    except BadFile:
        return path.suffix.lower() in (".gz", ".xz", ".json")


def _opened(name: str) -> Any:
    try:
        datasets = import_module("datasets")
    except ImportError:
        if Path(name).is_dir():
            raise BadFile(
                f"{name} is no file but a directory; if it is a dataset that was saved to disk, pip install datasets."
            ) from None
        raise BadFile(
            f"{name} is no file; for a Hugging Face dataset of that name install the library: pip install datasets."
        ) from None
    try:
        return datasets.load_from_disk(name) if Path(name).is_dir() else datasets.load_dataset(name)
    except Exception as error:  # whatever the library raises
        said = " ".join(str(error).split())[:200]
        raise BadFile(
            f"{name} is no file, and cannot be opened as a dataset: {type(error).__name__}: {said}"
        ) from error


def _one_split(found: Any, split: str, name: str) -> Any:
    """A dataset has splits, or is one."""
    if not isinstance(found, Mapping):
        return found
    if not split and len(found) == 1:
        return next(iter(found.values()))
    if split not in found:
        raise BadInput(f"say which split of {name}: {', '.join(f'{name}:{one}' for one in found)}.")
    return found[split]
