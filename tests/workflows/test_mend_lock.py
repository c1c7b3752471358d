"""Two mendings never work in one directory at once; the lock of a dead one is taken over."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import tiny

import assay
from assay.errors import BadInput, Stopped
from assay.storage import lock
from assay.storage.lock import Lock, Owner, held_by
from assay.training import entropy
from assay.workflows.mend.files import MendFiles
from assay.workflows.mend.result import MendResult

TEXTS = [("good films run", 1), ("dull plot", 0), ("a good plot", 1), ("the dull film", 0)]


def mended(out: Path) -> MendResult:
    """All of it, on a model that knows nothing."""
    how: Any = {"margin": 0.9, "epochs": 1, "beam": 1, "baseline": False, "progress": False}
    return assay.mend(tiny.bert(), TEXTS, TEXTS, out=out, **how)


@pytest.fixture
def during(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Does something in the middle of a mending, before the training."""
    regularise = entropy.regularise

    def put(work: Any) -> None:
        def call(*args: Any, **more: Any) -> Any:
            monkeypatch.setattr(entropy, "regularise", regularise)
            work()
            return regularise(*args, **more)

        monkeypatch.setattr(entropy, "regularise", call)

    return put


def test_a_second_mending_is_kept_out_and_the_first_ends_well(tmp_path: Path, during: Any) -> None:
    out, seen = tmp_path / "m", []

    def second() -> None:
        before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        with pytest.raises(BadInput, match=r"m is in use by process .*use another directory"):
            mended(out)
        assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
        seen.append(held_by(out))

    during(second)
    mended(out)
    assert seen
    assert (out / "config.json").exists()
    assert not (out / lock.FILE).exists()
    assert mended(out).models.keys() == mended(tmp_path / "other").models.keys()


def test_who_lost_the_lock_writes_nothing_more(tmp_path: Path, during: Any) -> None:
    out = tmp_path / "m"
    other = replace(Owner.me(), token="other")
    during(lambda: (out / lock.FILE).write_text(json.dumps(asdict(other))))
    with pytest.raises(Stopped, match="taken over"):
        mended(out)
    assert Owner.at(out / lock.FILE) == other
    assert not (out / "config.json").exists()


def test_the_lock_of_a_dead_mending_is_taken_over(tmp_path: Path) -> None:
    """Killed before it wrote anything: the lock alone is no other file."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / lock.FILE).write_text(json.dumps(asdict(replace(Owner.me(), pid=dead.pid))))
    mended(tmp_path)
    assert not (tmp_path / lock.FILE).exists()


def test_a_directory_in_use_by_a_run_is_refused(tmp_path: Path) -> None:
    with Lock(tmp_path), pytest.raises(BadInput, match="in use by process"):
        mended(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["mend.json", "parts", "report.md", lock.FILE])
def test_a_link_under_one_of_our_names_is_neither_followed_nor_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).symlink_to(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="is a link"), MendFiles.held(tmp_path / "out", {"margin": 0.1}):
        pass
    assert [path.name for path in (tmp_path / "out").iterdir()] == [name]
    assert not (tmp_path / "nowhere").exists()
