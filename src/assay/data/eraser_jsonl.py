"""ERASER: documents in a folder `docs` (or a file docs.jsonl) beside the rows, and evidence by word numbers.

    {"annotation_id": ..., "classification": ..., "query": ..., "docids": [...],
     "evidences": [[{"docid": ..., "start_token": 3, "end_token": 7, ...}, ...], ...]}

Words are what stands between blanks and line ends, counted from 0 through the whole document; where an evidence has
no word numbers, start_sentence and end_sentence count its lines. All evidences of a row are one annotation.
DeYoung et al. (2020), arXiv:1911.03429.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from assay.data.files import PathLike, Record, objects, opened
from assay.text.example import Example, Mark
from assay.text.text import Row

_WORD, _LINE = re.compile(r"\S+"), re.compile(r"[^\n]*\S[^\n]*")
_PAIR = ("premise", "hypothesis")  # the ends of the document names of a pair, in the order of the pair


@dataclass(frozen=True)
class EraserRow:
    """A row before one decides whether its query belongs to the text: some ask the same question of all texts."""

    id: str
    documents: Row
    query: str | None
    label: str | None
    marks: tuple[Mark, ...]

    def example(self, *, query: bool = True) -> Example:
        """The documents, and the query behind them."""
        more = (self.query,) if query and self.query else ()
        return Example(self.id, (*self.documents, *more), self.label, (self.marks,))


def read(path: PathLike) -> Iterator[EraserRow]:
    """The rows of a train, val or test file."""
    shelf = _Shelf(Path(path).parent)
    for row in objects(path):
        evidence = _evidence(row)
        names = _names(row, evidence)
        strings = tuple(shelf.get(row, name) for name in names)
        marks = tuple(_mark(piece, names, strings) for piece in evidence)
        query = row.string("query").strip() if "query" in row else None
        name = row.name("annotation_id") or str(row.place.number)
        yield EraserRow(name, strings, query, row.name("classification"), marks)


def _evidence(row: Record) -> list[Record]:
    groups = row.values.get("evidences")
    if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
        row.place.refuse("'evidences' must be a list of lists of objects")
    return [row.inner(piece, "evidences") for group in groups for piece in group]


def _names(row: Record, evidence: Sequence[Record]) -> list[str]:
    """The documents of a row; where it does not say, those of its evidence, or the one of its own name."""
    listed = row.strings("docids") if "docids" in row else []
    names = dict.fromkeys(listed or [piece.string("docid") for piece in evidence] or [row.string("annotation_id")])
    return sorted(names, key=lambda name: next((i for i, end in enumerate(_PAIR) if name.endswith(end)), 0))


def _mark(piece: Record, names: Sequence[str], strings: Row) -> Mark:
    name = piece.string("docid")
    if name not in names:
        piece.place.refuse(f"the evidence is from {name!r}, which is not in 'docids'")
    by_words = "start_token" in piece and piece.number("start_token") >= 0
    unit, pattern = ("token", _WORD) if by_words else ("sentence", _LINE)
    start, end = piece.number(f"start_{unit}"), piece.number(f"end_{unit}")
    spans = [match.span() for match in pattern.finditer(strings[names.index(name)])]
    if not 0 <= start < end <= len(spans):
        piece.place.refuse(f"evidence from {unit} {start} to {end} is not inside {name!r}, which has {len(spans)}")
    return Mark(names.index(name), spans[start][0], spans[end - 1][1])


@dataclass(frozen=True)
class _Shelf:
    """The documents beside the rows, each opened once, when it is first wanted."""

    folder: Path
    opened: dict[str, str] = field(default_factory=dict)

    def get(self, row: Record, name: str) -> str:
        if name not in self.opened:
            self.opened[name] = self._listed(row, name) if self._list else self._own_file(row, name)
        return self.opened[name]

    @cached_property
    def _list(self) -> Path | None:
        return next(iter(sorted(self.folder.glob("docs.jsonl*"))), None)

    @cached_property
    def _all(self) -> dict[str, str]:
        assert self._list is not None
        return {row.string("docid"): row.string("document").strip() for row in objects(self._list)}

    def _listed(self, row: Record, name: str) -> str:
        if name not in self._all:
            row.place.refuse(f"there is no document {name!r} in {self._list}")
        return self._all[name]

    def _own_file(self, row: Record, name: str) -> str:
        docs = (self.folder / "docs").resolve()
        path = (docs / name).resolve()
        if not path.is_relative_to(docs) or not path.is_file():  # a name must not lead out of the folder
            row.place.refuse(f"there is no document {name!r} in {self.folder / 'docs'}, nor a docs.jsonl beside it")
        with opened(path) as file:
            return file.read().strip()
