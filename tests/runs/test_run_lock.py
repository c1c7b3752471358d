"""The lock: one run at a time; the lock of a dead process is taken over, that of a living one is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from threading import Timer

import pytest

from assay.errors import BadInput, Stopped
from assay.storage import lock
from assay.storage.lock import Lock, Owner, held_by

HOLDER = """
import sys, time
from pathlib import Path
from threading import Timer
from assay.storage import lock
if len(sys.argv) > 2:
    lock.socket.gethostname = lambda: sys.argv[2]
with lock.Lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""
Holder = Callable[..., subprocess.Popen[str]]


def put(path: Path, owner: Owner) -> None:
    (path / lock.FILE).write_text(json.dumps(asdict(owner)))


def age(path: Path, seconds: float) -> None:
    """As if the owner had not touched its lock for so long."""
    then = time.time() - seconds
    os.utime(path / lock.FILE, (then, then))


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[Holder]:
    """Other processes that hold the lock of the directory; a second argument is the machine they think they are on."""
    started: list[subprocess.Popen[str]] = []

    def start(*host: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(tmp_path), *host], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_second_run_is_kept_out_and_the_lock_goes_with_the_run(tmp_path: Path) -> None:
    with Lock(tmp_path) as mine:
        assert held_by(tmp_path) == mine.owner
        with pytest.raises(BadInput, match=f"process {os.getpid()}"), Lock(tmp_path):
            pass
        mine.require()
    assert list(tmp_path.iterdir()) == []


def test_another_process_is_kept_out_and_told_by_whom(tmp_path: Path, holder: Holder) -> None:
    other = holder()
    found = held_by(tmp_path)
    assert found is not None
    assert found.pid == other.pid
    age(tmp_path, lock.STALE + 5)  # a process of this machine is judged by the kernel alone
    assert held_by(tmp_path) == found
    with pytest.raises(BadInput, match=f"in use by process {other.pid} on {found.host}; wait"), Lock(tmp_path):
        pass
    assert held_by(tmp_path) == found


def test_the_lock_of_a_killed_process_is_taken_over_at_once(tmp_path: Path, holder: Holder) -> None:
    """Also while nobody has waited for it: a zombie holds nothing."""
    other = holder()
    other.kill()
    deadline = time.time() + 20
    while held_by(tmp_path) is not None and time.time() < deadline:
        time.sleep(0.01)
    assert other.returncode is None  # not waited for yet
    began = time.monotonic()
    with Lock(tmp_path) as mine:
        assert time.monotonic() - began < 1
        assert held_by(tmp_path) == mine.owner


def test_a_new_process_with_an_old_number_is_not_the_owner(tmp_path: Path) -> None:
    put(tmp_path, replace(Owner.me(), pid=os.getppid()))
    assert held_by(tmp_path) is None
    with Lock(tmp_path) as mine:
        mine.require()


def test_a_process_of_another_machine_is_judged_by_its_beat(tmp_path: Path) -> None:
    """Where the file system keeps the kernel's locks to one machine."""
    put(tmp_path, replace(Owner.me(), host="elsewhere"))
    assert held_by(tmp_path) is not None
    with pytest.raises(BadInput, match="elsewhere"), Lock(tmp_path):
        pass
    age(tmp_path, lock.STALE + 5)
    assert held_by(tmp_path) is None
    with Lock(tmp_path):
        pass


def test_the_lock_of_a_machine_that_is_gone_is_taken_over_though_the_server_keeps_it(
    tmp_path: Path, holder: Holder
) -> None:
    gone = holder("elsewhere")
    with pytest.raises(BadInput, match="on elsewhere"), Lock(tmp_path):
        pass
    age(tmp_path, lock.STALE + 5)
    assert held_by(tmp_path) is None
    with Lock(tmp_path) as mine:
        assert held_by(tmp_path) == mine.owner
        gone.kill()
        gone.wait()
        assert held_by(tmp_path) == mine.owner  # also when the server lets go of the old lock at last
        mine.require()
    assert list(tmp_path.iterdir()) == []


def test_where_the_kernel_locks_nothing_the_beat_decides_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(lock.FileLock, "acquire", refuse)
    monkeypatch.setattr(lock, "lock_descriptor", refuse)
    with Lock(tmp_path) as mine:
        assert held_by(tmp_path) == mine.owner
        with pytest.raises(BadInput, match=f"process {os.getpid()}"), Lock(tmp_path):
            pass
        mine.require()
    put(tmp_path, Owner.me())
    age(tmp_path, lock.STALE + 5)
    with Lock(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


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
        assert (tmp_path / lock.FILE).stat().st_mtime > 1
    assert len(beats) >= 3


def test_who_lost_the_lock_finds_out_and_leaves_it_alone(tmp_path: Path) -> None:
    other = replace(Owner.me(), token="other")
    with Lock(tmp_path) as mine:
        put(tmp_path, other)
        with pytest.raises(Stopped, match="taken over"):
            mine.require()
    assert Owner.at(tmp_path / lock.FILE) == other


def ahead(path: Path, seconds: float) -> None:
    age(path, -seconds)


def test_a_lock_from_the_future_is_watched_and_does_not_hold_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As left by a machine whose clock was wrong, and which is gone."""
    monkeypatch.setattr(lock, "BEAT", 0.02)
    put(tmp_path, replace(Owner.me(), host="elsewhere"))
    ahead(tmp_path, 86_400)
    assert held_by(tmp_path) is None
    with Lock(tmp_path) as mine:
        assert held_by(tmp_path) == mine.owner


def test_a_lock_from_the_future_that_beats_is_in_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "BEAT", 0.4)
    put(tmp_path, replace(Owner.me(), host="elsewhere"))
    ahead(tmp_path, 86_400)
    beats = Timer(0.3, lambda: ahead(tmp_path, 86_500))
    beats.start()
    with pytest.raises(BadInput, match="elsewhere"), Lock(tmp_path):
        pass
    beats.join()


def test_a_file_that_is_no_lock_is_left_alone(tmp_path: Path) -> None:
    for content in ("", "mine", "{}", "[1]"):
        (tmp_path / lock.FILE).write_text(content)
        with pytest.raises(BadInput, match="is no lock of ours and is left alone"), Lock(tmp_path):
            pass
        assert held_by(tmp_path) is None
        assert (tmp_path / lock.FILE).read_text() == content
    assert len(list(tmp_path.iterdir())) == 1


def test_a_taker_that_renamed_a_living_lock_away_puts_it_back(tmp_path: Path) -> None:
    """Two find the same lock dead: the slower one must not take away what the faster one has made."""
    dead = replace(Owner.me(), host="elsewhere", token="dead")
    with Lock(tmp_path) as faster:
        with pytest.raises(BadInput, match="at the same moment"):
            Lock(tmp_path)._replace(dead)
        faster.require()


def test_where_files_cannot_be_linked_it_is_made_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with Lock(tmp_path) as mine:
        assert held_by(tmp_path) == mine.owner
        with pytest.raises(BadInput, match="in use"), Lock(tmp_path):
            pass
    assert list(tmp_path.iterdir()) == []
