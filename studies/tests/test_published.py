"""The csv files of published numbers: what is read, and what is refused."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from assay.errors import BadFile
from assay_studies import STUDIES
from assay_studies.published import COLUMNS, published, read

HEAD = ",".join(COLUMNS)


def write(place: Path, *rows: str, name: str = "table_1", head: str = HEAD) -> Path:
    (place / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return place


def test_a_number_is_found_by_its_table_line_and_column(tmp_path: Path) -> None:
    found = read(write(tmp_path, 'table_1,"sst2, Deletion",IM,-0.35,-0.35 ± 0.2 (1e-4),Table 1 (a)'))
    number = found.get("table_1", "sst2, Deletion", "IM")
    assert (number.value, number.numbers, number.where) == (-0.35, (-0.35, 0.2, 1e-4), "Table 1 (a)")
    assert found.text("table_1", "sst2, Deletion", "IM") == "-0.35 ± 0.2 (1e-4)"
    assert found.text("table_1", "sst2, Deletion", "LOO") == ""
    assert found.find("table_2", "sst2, Deletion", "IM") is None
    assert found.lines("table_1") == ["sst2, Deletion"]
    with pytest.raises(KeyError, match="no number is published in table_1 for 'sst2' and 'IM'"):
        found.get("table_1", "sst2", "IM")


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        (["table_1,a,b,0.5,0.6,Table 1"], "row 2: '0.5' is not the first number of '0.6'"),
        (["table_1,a,b,x,x,Table 1"], "row 2: 'x' is not the first number of 'x'"),
        (["table_1,a,b,1,1,Table 1", "table_1,a,b,2,2,Table 1"], "row 3: table_1, a, b stands there twice"),
        (["table_1,a,b,1,1,"], "row 2: each of table, line, column"),
        (["table_1,a,b,1,1"], "row 2: each of table, line, column"),
        (["table_1,a,b,1,1,Table 1,more"], "row 2: each of table, line, column"),
        (["table_2,a,b,1,1,Table 1"], "row 2: the table table_2 stands in the file table_1.csv"),
    ],
)
def test_a_row_that_cannot_be_right_is_named(rows: list[str], wrong: str, tmp_path: Path) -> None:
    with pytest.raises(BadFile) as error:
        read(write(tmp_path, *rows))
    assert wrong in str(error.value)
    assert "table_1.csv" in str(error.value)


def test_other_columns_and_no_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no csv file of published numbers"):
        read(tmp_path)
    with pytest.raises(BadFile, match="has the columns"):
        read(write(tmp_path, head="table,line,column,value"))


def test_the_numbers_of_every_study_are_read() -> None:
    printed = [name for name in STUDIES if find_spec(f"assay_studies.{name}.published")]
    assert {name: len(published(name).numbers) for name in printed} == {
        "double_trouble": 166,
        "attention_is_not_explanation": 688,
        "attention_is_not_not_explanation": 191,
        "pathologies": 1,
    }


def test_some_numbers_of_double_trouble_are_those_of_the_paper() -> None:
    paper = published("double_trouble")
    assert paper.text("table_1", "sst2, Deletion", "LOO_empty") == "0.4241"
    assert paper.text("table_2", "sst2, Random", "ROAR_BERT, 30%") == "85.21 ± 0.47"
    assert paper.text("table_3", "multirc, recall", "IM") == "0.0630"
    assert paper.text("table_a2", "Human", "sst2") == "37%"
    assert paper.get("table_a3", "mass", "esnli").value == 90
    assert paper.text("table_a6", "sst2, LIME", "ROAR_BERT_SST2, 30%") == "72.18 ± 1.02"


def test_the_numbers_of_a_harmonic_mean_agree() -> None:
    """F1 is that of the precision and the recall beside it: a slip of a digit would show."""
    paper = published("double_trouble")
    for dataset in ("sst2", "esnli", "multirc"):
        for method in ("IM", "LOO_empty"):
            p, r, f1 = (paper.get("table_3", f"{dataset}, {m}", method).value for m in ("precision", "recall", "F1"))
            assert f1 == pytest.approx(2 * p * r / (p + r), abs=2e-4)


def test_a_published_difference_has_the_printed_digits() -> None:
    paper = published("double_trouble")
    line = "sst2, Deletion"
    assert paper.gap("table_1", (line, "IM"), (line, "LOO_empty")) == "0.0491"  # 0.4732 - 0.4241
    assert paper.gap("table_1", (line, "LOO_empty"), (line, "IM")) == "-0.0491"
    column = "ROAR, 10%"
    assert paper.gap("table_2", ("sst2, IM", column), ("sst2, LOO_empty", column)) == "1.63"  # 76.22 ± 1.18 - 74.59
    assert paper.gap("table_2", ("sst2, IM", column), ("sst2, LIME", column)) == ""
