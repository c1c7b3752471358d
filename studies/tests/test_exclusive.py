"""One study at a time in a directory, and nothing left behind where it was refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.errors import BadFile, BadInput
from assay.storage.lock import Lock
from assay_studies import Request, find_study
from assay_studies.findings import Part
from assay_studies.store import Store
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


@pytest.mark.parametrize("name", ["report.md", "tables/mine.csv", "parts/mine.json", "maps/mine.txt"])
def test_a_users_own_files_are_not_written_over(tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).write_text('{"mine": 1}')
    request = Request(data=tmp_path, out=out, sizes={"sst": 0}, quick=True)
    with pytest.raises(BadInput, match=r"holds other files .* and no study"):
        find_study("attention_is_not_explanation")(request)
    assert (out / name).read_text() == '{"mine": 1}'
    assert not (out / "lock").exists()


@pytest.mark.parametrize("kept", ["part", "maps"])
def test_a_study_that_was_stopped_may_go_on(tmp_path: Path, kept: str) -> None:
    store = Store(tmp_path)
    store.require_ours()
    if kept == "part":
        store.keep_part(Part("one", "One"), {"version": 1})
    else:
        store.keep_maps("one", {"version": 1}, [])
    (tmp_path / "report.md").write_text("of an earlier run")
    store.require_ours()


@pytest.mark.parametrize("name", ["parts", "report.html", "parts/one.json"])
def test_links_are_neither_followed_nor_replaced(tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).symlink_to(elsewhere)
    with pytest.raises(BadInput, match="is a link, which is neither followed nor replaced"):
        Store(out).require_ours()
    if name != "parts":
        with pytest.raises(BadInput, match="is a link"):
            Store(out).write(out / name, b"")
    assert not list(elsewhere.iterdir())


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
