"""The files of a study with people: what may be shown to them, and what must not.

    DIR/public/items.jsonl, items.csv        what people see
    DIR/public/lists.jsonl, lists.csv        who answers what, in which order
    DIR/private/key.jsonl, key.csv           what is what, and what is right

JSONL and CSV hold the same; in CSV, an apostrophe stands before what a spreadsheet would run. Answers come back as a
.csv, .tsv, .jsonl or .parquet file with the columns item, annotator and answer; other columns are left alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import BadFile, BadInput
from assay.storage.files import write_text
from assay.storage.plain import require_plain
from assay.text.columns import present
from assay.text.formats import format_of, records
from assay.workflows.people.answers import Answer
from assay.workflows.people.cells import guarded_csv, unguarded
from assay.workflows.people.lists import Assignment
from assay.workflows.people.tasks import Item, Key, Tasks

_ITEMS, _LISTS, _KEY = Path("public/items"), Path("public/lists"), Path("private/key")
_ANSWER = ("item", "annotator", "answer")
_BETWEEN = " | "


@dataclass(frozen=True)
class PeopleStudy:
    """A directory that holds a study."""

    place: Path

    def require_free(self) -> PeopleStudy:
        """A directory that holds a study already is left as it is, as people may be answering it."""
        require_plain(self.place, ["public", "private"])
        for name in (_ITEMS, _LISTS, _KEY):
            for path in ((self.place / name).with_suffix(ending) for ending in (".jsonl", ".csv")):
                if os.path.lexists(path):
                    raise BadFile(f"{self.place} holds a study already ({path.name}); choose another directory.")
        return self

    def write(self, tasks: Tasks, assignments: Sequence[Assignment]) -> None:
        """All files, the key last."""
        self.require_free()
        for name, rows in (
            (_ITEMS, [_item(item) for item in tasks.items]),
            (_LISTS, [vars(one) for one in assignments]),
            (_KEY, [_key(key) for key in tasks.keys]),
        ):
            write_text(self.place / name.with_suffix(".jsonl"), "".join(f"{_json(row)}\n" for row in rows))
            write_text(self.place / name.with_suffix(".csv"), guarded_csv([_flat(row) for row in rows]))

    def keys(self) -> list[Key]:
        return [_read_key(row) for row in self._rows(_KEY)]

    def assignments(self) -> list[Assignment]:
        return [Assignment(row["annotator"], row["position"], row["item"]) for row in self._rows(_LISTS)]

    def _rows(self, name: Path) -> Iterator[Mapping[str, Any]]:
        path = (self.place / name).with_suffix(".jsonl")
        if not path.is_file():
            raise BadFile(f"there is no {path}; give the directory that `assay people export` wrote.")
        return rows_of(path)


def read_answers(paths: Iterable[Path]) -> list[Answer]:
    """The answers of all files."""
    return [answer for path in paths for answer in _answers(path)]


def _answers(path: Path) -> Iterator[Answer]:
    for i, row in enumerate(rows_of(path), start=1):
        if missing := [name for name in _ANSWER if name not in row]:
            raise BadInput(f"{path}, row {i} has no {missing[0]!r}; answers need {', '.join(_ANSWER)}.")
        item, annotator, answer = (cell_string(row[name]) for name in _ANSWER)
        if not item or not annotator:
            raise BadInput(f"{path}, row {i} does not say which item was answered, or by whom.")
        yield Answer(item, annotator, answer)


def cell_string(cell: Any) -> str:
    """What a person wrote into a cell, without the guard and the blanks around it."""
    return unguarded("" if present(cell) is None else str(cell).strip())


def rows_of(path: Path) -> Iterator[Mapping[str, Any]]:
    """The rows of a file; one that cannot be read is an error."""
    for row in records(path, format_of(path)):
        if isinstance(row, Exception):
            raise BadFile(f"{path}: {row}") from row
        yield row


def _item(item: Item) -> dict[str, Any]:
    """As it is written: nothing that is not shown."""
    asked = {"item": item.id, "task": item.task, "question": item.question, "shown": dict(item.shown)}
    pair = {"A": dict(item.a), "B": dict(item.b)} if item.task == "preference" else {}
    return {**asked, **pair, "choices": list(item.choices)}


def _key(key: Key) -> dict[str, Any]:
    return {**vars(key), "choices": list(key.choices)}


def _read_key(row: Mapping[str, Any]) -> Key:
    try:
        return Key(**{**row, "choices": tuple(row["choices"])})
    except (KeyError, TypeError) as error:
        raise BadFile(f"the key of the study cannot be read ({error}); export the study anew.") from error


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """One column for each string: a mapping has one for each of its names."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}.{inner}": string for inner, string in value.items()}
        else:
            flat[name] = _BETWEEN.join(value) if isinstance(value, list) else value
    return flat


def _json(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False)
