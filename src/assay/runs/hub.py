"""Hugging Face datasets: a directory made by save_to_disk, or NAME or NAME:SPLIT of the hub. Needs `datasets`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from assay.errors import BadFile, BadInput
from assay.runs.rows import Record


@dataclass(frozen=True)
class HubSource:
    """A dataset that the library has opened; it does not change while it is open."""

    name: str
    dataset: Any

    @classmethod
    def of(cls, given: str) -> HubSource:
        name, _, split = given.partition(":") if not Path(given).exists() else (given, "", "")
        return cls(given, _one_split(_opened(name), split, name))

    def fingerprint(self) -> str:
        return str(self.dataset._fingerprint)

    def columns(self) -> list[str]:
        return list(self.dataset.column_names)

    def records(self, wanted: Sequence[str]) -> Iterator[Record]:
        return iter(self.dataset.select_columns(list(wanted)))

    def require_unchanged(self) -> None:
        """A dataset is kept by its own library under its fingerprint."""


def _opened(name: str) -> Any:
    try:
        datasets = import_module("datasets")
    except ImportError:
        raise BadFile(
            f"{name} is no file; for a Hugging Face dataset of that name install the library: pip install datasets."
        ) from None
    try:
        return datasets.load_from_disk(name) if Path(name).is_dir() else datasets.load_dataset(name)
    except Exception as error:  # whatever the library raises
        said = " ".join(str(error).split())[:200]
        raise BadFile(f"{name} cannot be opened as a dataset: {type(error).__name__}: {said}") from error


def _one_split(found: Any, split: str, name: str) -> Any:
    """A dataset has splits, or is one."""
    if not isinstance(found, Mapping):
        return found
    if not split and len(found) == 1:
        return next(iter(found.values()))
    if split not in found:
        raise BadInput(f"say which split of {name}: {', '.join(f'{name}:{one}' for one in found)}.")
    return found[split]
