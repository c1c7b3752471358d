"""Cells for spreadsheets: no formula gets through, and every string comes back as it was."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import BadFile, BadInput
from assay.workflows.people.cells import guarded, guarded_csv, unguarded
from assay.workflows.people.files import PeopleStudy, read_answers
from assay.workflows.people.tasks import Tasks

SIGNS = "=+-@\t\r\n'＝a "


@given(st.text(alphabet=SIGNS) | st.text())
def test_every_string_comes_back_and_none_is_a_formula(string: str) -> None:
    cell = guarded(string)
    assert unguarded(cell) == string
    assert cell[:1] not in set("=+-@\t\r\n＝＋－＠")


@given(st.text(alphabet=SIGNS))
def test_a_csv_file_holds_no_formula_and_reads_back(string: str) -> None:
    names, cells = csv.reader(io.StringIO(guarded_csv([{"=name": string, "n": -3}]), newline=""))
    assert names == ["'=name", "n"]
    assert unguarded(cells[0]) == string
    assert cells[0][:1] not in set("=+-@\t\r")
    assert cells[1] == "-3"


def test_answers_are_read_without_the_guard_and_nan_is_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("item,annotator,answer\ni1,ann,'-1\ni2,ann,-1\ni3,ann,'twas\n")
    assert [one.answer for one in read_answers([path])] == ["-1", "-1", "'twas"]
    path = tmp_path / "answers.jsonl"
    path.write_text('{"item": "i1", "annotator": "ann", "answer": NaN}\n')
    assert [one.answer for one in read_answers([path])] == [""]


@pytest.mark.parametrize("name", ["public/items.csv", "public/lists.jsonl", "private/key.csv"])
def test_a_users_file_under_a_name_of_a_study_is_left_alone(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir()
    path.write_text("mine")
    with pytest.raises(BadFile, match="choose another directory"):
        PeopleStudy(tmp_path).write(Tasks((), (), ()), [])
    assert path.read_text() == "mine"


def test_a_link_under_a_name_of_a_study_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "public").symlink_to(tmp_path / "there")
    with pytest.raises(BadInput, match="is a link"):
        PeopleStudy(tmp_path / "study").require_free()
    assert list((tmp_path / "there").iterdir()) == []
