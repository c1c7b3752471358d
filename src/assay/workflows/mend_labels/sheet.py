"""relabel.csv: the suspects as a sheet that people fill in, and what comes back of it.

    row, text (and second text), given, suggested, corrected, why

`corrected` is empty; who looks at a row writes its right label there, the given one if that was right. Rows that are
left empty keep their labels. No cell is a formula for a spreadsheet (assay.workflows.people.cells).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.errors import BadInput, UnknownName
from assay.text.text import Row
from assay.workflows.mend_labels.suspects import Suspect
from assay.workflows.people.cells import guarded_csv
from assay.workflows.people.files import cell_string, rows_of

SHEET = "relabel.csv"
_ROW, _CORRECTED, _TEXTS = "row", "corrected", ("text", "second text")


def sheet(suspects: Sequence[Suspect]) -> str:
    """The content of the file; with no suspects, only the names of the columns."""
    if not suspects:
        return ",".join(f'"{name}"' for name in (_ROW, _TEXTS[0], "given", "suggested", _CORRECTED, "why")) + "\n"
    return guarded_csv([_line(one) for one in suspects])


def _line(one: Suspect) -> dict[str, Any]:
    texts = dict(zip(_TEXTS, one.strings, strict=False))
    return {_ROW: one.row, **texts, "given": one.given, "suggested": one.suggested, _CORRECTED: "", "why": one.why}


def corrections(path: Path, known: Mapping[int, Row], labels: Sequence[str]) -> dict[int, str]:
    """The corrected labels by the number of their row; `known` are the texts that may be corrected."""
    found: dict[int, str] = {}
    for line, row in enumerate(rows_of(path), start=1):
        where = f"{path}, line {line}"
        for name in (_ROW, _CORRECTED):
            if name not in row:
                raise BadInput(f"{path} has no column {name!r}; fill in the column corrected of {SHEET} and give that.")
        if not (label := cell_string(row[_CORRECTED])):
            continue
        number = _number(row[_ROW], known, where)
        _require_same(row, known[number], where)
        if label not in labels:
            raise UnknownName(f"{where}: {UnknownName.of('label', label, labels)}")
        if found.setdefault(number, label) != label:
            raise BadInput(f"{where}: row {number} is corrected twice, to “{found[number]}” and to “{label}”.")
    if not found:
        raise BadInput(f"no row of {path} has a corrected label: write labels into its column {_CORRECTED!r}.")
    return found


def _number(cell: Any, known: Mapping[int, Row], where: str) -> int:
    try:
        number = int(float(cell_string(cell)))
    except ValueError:
        raise BadInput(f"{where}: the row is {cell!r}, which is no number.") from None
    if number not in known:
        raise BadInput(f"{where}: there is no row {number} among the rows that were looked at.")
    return number


def _require_same(row: Mapping[str, Any], strings: Row, where: str) -> None:
    """A sheet of other data would correct the wrong rows."""
    for name, string in _cells(row, strings):
        if cell_string(row[name]) != string.strip():
            raise BadInput(f"{where}: the {name} is not that of the row in the data; is this the sheet of other data?")


def _cells(row: Mapping[str, Any], strings: Row) -> Iterator[tuple[str, str]]:
    return ((name, string) for name, string in zip(_TEXTS, strings, strict=False) if name in row)
