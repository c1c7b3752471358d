"""One study at a time in a directory, and nothing left behind where it was refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.errors import BadFile, BadInput
from assay.storage.lock import Lock
from assay_studies import Request, find_study
from assay_studies.study import exclusive


def test_a_second_study_is_kept_out(tmp_path: Path) -> None:
    request = Request(data=tmp_path, out=tmp_path / "out", sizes={"sst": 0}, quick=True)
    with exclusive(request.out), pytest.raises(BadInput, match=f"in use by process {os.getpid()}"):
        find_study("attention_is_not_explanation")(request)
    with pytest.raises(BadInput, match="no dataset left"):
        find_study("attention_is_not_explanation")(request)


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with exclusive(out):
        left = (out / "lock").read_text()
    out.mkdir()
    (out / "lock").write_text(left.replace(f'"pid": {os.getpid()}', '"pid": 999999999'))
    with exclusive(out):
        assert (out / "lock").exists()


def test_what_was_refused_leaves_nothing_behind(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with pytest.raises(RuntimeError), exclusive(out):
        raise RuntimeError
    assert not out.exists()
    with exclusive(out):
        (out / "made").write_text("")
    assert [p.name for p in out.iterdir()] == ["made"]
    with exclusive(out):
        (out / "made").unlink()
    assert out.exists()  # it was there before


def test_a_place_that_cannot_be_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadFile, match="cannot be written"), exclusive(tmp_path / "file"):
        pass
    with pytest.raises(BadFile, match="cannot be written"), exclusive(tmp_path / "file" / "out"):
        pass
    with Lock(tmp_path), pytest.raises(BadInput, match="in use"), exclusive(tmp_path):
        pass
    assert (tmp_path / "file").exists()
