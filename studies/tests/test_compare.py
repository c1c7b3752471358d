"""The comparison of two directories of a study: it must see every kind of change."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from assay.statistics.intervals import Estimate
from assay_studies.claims import Claim
from assay_studies.findings import Part
from assay_studies.store import Store
from assay_studies.tables import Cell, Line, Table

sys.path.insert(0, str(Path(__file__).parents[1]))
import compare

CELLS = (Cell(Estimate(0.5, 0.4, 0.6, 30), "0.7"), Cell())
TABLE = Table("t", "T", ("x", "y"), (Line("a", CELLS),))
PART = Part("one", "One", (TABLE,), (Claim("c", True, "e"),), ("note",))


def status(old: Part, new: Part, place: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    for name, part in (("old", old), ("new", new)):
        Store(place / name).keep_part(part, {})
    monkeypatch.setattr("sys.argv", ["compare.py", str(place / "old"), str(place / "new")])
    return compare.main()


def with_cells(*cells: Cell) -> Part:
    return replace(PART, tables=(replace(TABLE, lines=(Line("a", cells),)),))


CHANGED = {
    "value": with_cells(Cell(Estimate(0.5001, 0.4, 0.6, 30), "0.7"), Cell()),
    "interval": with_cells(Cell(Estimate(0.5, 0.4, 0.61, 30), "0.7"), Cell()),
    "not measured": with_cells(Cell(None, "0.7"), Cell()),
    "published": with_cells(Cell(Estimate(0.5, 0.4, 0.6, 30), "0.8"), Cell()),
    "line": replace(PART, tables=(replace(TABLE, lines=(Line("b", CELLS),)),)),
    "verdict": replace(PART, claims=(Claim("c", None, "e"),)),
    "note": replace(PART, notes=()),
    "part": replace(PART, name="two"),
}


def test_the_same_part_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert status(PART, replace(PART, seconds=9.0), tmp_path, monkeypatch) == 0
    rounded = with_cells(Cell(Estimate(0.5 + 1e-9, 0.4, 0.6, 30), "0.7"), Cell())
    assert status(PART, rounded, tmp_path, monkeypatch) == 0


@pytest.mark.parametrize("what", CHANGED)
def test_a_change_is_seen(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert status(PART, CHANGED[what], tmp_path, monkeypatch) == 1


def test_where_the_largest_difference_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status(PART, CHANGED["interval"], tmp_path, monkeypatch)
    assert "largest difference 0.01 at t, 0, a, x, high" in capsys.readouterr().out
