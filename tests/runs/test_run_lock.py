"""The lock: one run at a time; the lock of a dead process is taken over, that of a living one is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from assay.errors import BadInput, Stopped
from assay.storage import lock
from assay.storage.lock import Lock, Owner, held_by


def put(path: Path, owner: Owner) -> None:
    (path / lock.FILE).write_text(json.dumps(asdict(owner)))


def test_a_second_run_is_kept_out_and_the_lock_goes_with_the_run(tmp_path: Path) -> None:
    with Lock(tmp_path) as mine:
        assert held_by(tmp_path) == mine.owner
        with pytest.raises(BadInput, match=f"process {os.getpid()}"), Lock(tmp_path):
            pass
        mine.require()
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    owner = replace(Owner.me(), pid=dead.pid, started=lock.started(dead.pid))
    dead.wait()
    put(tmp_path, owner)
    assert held_by(tmp_path) is None
    with Lock(tmp_path) as mine:
        assert held_by(tmp_path) == mine.owner


def test_a_new_process_with_an_old_number_is_not_the_owner(tmp_path: Path) -> None:
    put(tmp_path, replace(Owner.me(), started="12"))
    assert held_by(tmp_path) is None


def test_a_process_of_another_machine_is_judged_by_its_beat(tmp_path: Path) -> None:
    put(tmp_path, replace(Owner.me(), host="elsewhere"))
    assert held_by(tmp_path) is not None
    with pytest.raises(BadInput, match="elsewhere"), Lock(tmp_path):
        pass
    old = time.time() - lock.STALE - 5
    os.utime(tmp_path / lock.FILE, (old, old))
    assert held_by(tmp_path) is None
    with Lock(tmp_path):
        pass


def test_a_lock_of_this_process_that_could_not_be_removed_is_no_lock(tmp_path: Path) -> None:
    """As when the disk was read-only at the end of a run, and the same notebook runs it again."""
    with Lock(tmp_path) as mine:
        left = (tmp_path / lock.FILE).read_text()
    (tmp_path / lock.FILE).write_text(left)
    assert Owner.at(tmp_path / lock.FILE) == mine.owner
    assert held_by(tmp_path) is None
    with Lock(tmp_path):
        pass


def test_it_beats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "BEAT", 0.02)
    beats: list[int] = []
    with Lock(tmp_path, lambda: beats.append(1)):
        os.utime(tmp_path / lock.FILE, (0, 0))
        deadline = time.time() + 10
        while (len(beats) < 3 or (tmp_path / lock.FILE).stat().st_mtime < 1) and time.time() < deadline:
            time.sleep(0.01)
    assert len(beats) >= 3


def test_who_lost_the_lock_finds_out_and_leaves_it_alone(tmp_path: Path) -> None:
    other = replace(Owner.me(), token="other")
    with Lock(tmp_path) as mine:
        put(tmp_path, other)
        with pytest.raises(Stopped, match="taken over"):
            mine.require()
    assert Owner.at(tmp_path / lock.FILE) == other
