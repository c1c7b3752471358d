"""Cells without a value: NaN, None and pandas' NA are a missing text, which is that row's error, and never a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.text.columns import present
from assay.text.sample import Sample

EMPTY = [float("nan"), np.float32("nan"), np.float64("nan"), None, pd.NA, pd.NaT, float("inf"), float("-inf")]


def found(source: Any) -> list[tuple[str, ...] | str]:
    return [row.strings if row.error is None else str(row.error) for row in Sample.of(source).rows()]


def missing(rows: list[Any]) -> None:
    assert rows[0] == ("good",)
    assert all(row == "the column 'text' is empty in this row." for row in rows[1:]), rows


@pytest.mark.parametrize("value", EMPTY)
def test_an_empty_cell_of_a_record_or_a_frame(value: Any) -> None:
    assert present(value) is None
    missing(found([{"text": "good"}, {"text": value}]))
    missing(found(pd.DataFrame({"text": pd.Series(["good", value], dtype=object)})))


def test_empty_cells_of_files(tmp_path: Path) -> None:
    lines = tmp_path / "rows.jsonl"
    lines.write_text('{"text": "good"}\n{"text": NaN}\n{"text": null}\n{"text": -Infinity}\n{}\n')
    missing(found(lines))
    table = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"text": pa.array(["good", None])}), table)
    missing(found(table))
    pq.write_table(pa.table({"text": pa.array([float("nan"), None])}), table)
    missing([("good",), *found(table)])


def test_ids_and_labels_are_not_called_nan() -> None:
    sample = Sample.of([{"text": "good", "label": value, "id": value} for value in EMPTY], label="label", id="id")
    rows = list(sample.rows())
    assert {row.label for row in rows} == {None}
    assert [row.id for row in rows] == [str(i) for i in range(len(EMPTY))]


def test_numbers_and_the_word_itself_are_texts() -> None:
    assert found([{"text": 3}, {"text": 1.5}, {"text": "nan"}]) == [("3",), ("1.5",), ("nan",)]
