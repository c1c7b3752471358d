"""Jobs that several processes share: their order, their errors, a process that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from assay.errors import BadInput, Stopped
from assay_studies import Request, find_study
from assay_studies.workers import Job, work


def note(place: Path, name: str) -> None:
    with (place / "order").open("a") as file:
        file.write(f"{name}\n")


def fail(place: Path) -> None:
    raise BadInput("this one cannot be done.")


def die(place: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def note_threads(place: Path) -> None:
    import torch
    from transformers.utils import logging

    note(place, f"{torch.get_num_threads()} threads, bars {logging.is_progress_bar_enabled()}")


def grow(place: Path, seconds: float) -> None:
    """More than loky lets a worker grow; it looks at most once a second."""
    note(place, f"pid {os.getpid()}")
    _GROWN.append(bytearray(400_000_000))
    _GROWN[-1][::4096] = b"x" * len(_GROWN[-1][::4096])
    time.sleep(seconds)


_GROWN: list[bytearray] = []


def jobs(place: Path, *more: str) -> list[Job]:
    return [
        Job("last", partial(note, place, "last"), ("first", "second")),
        Job("second", partial(note, place, "second"), ("first",)),
        Job("first", partial(note, place, "first")),
        *(Job(name, partial(note, place, name)) for name in more),
    ]


def test_a_job_comes_after_those_that_it_waits_for(tmp_path: Path) -> None:
    heard: list[str] = []
    took: dict[str, float] = {}
    work(jobs(tmp_path), 2, heard.append, took.__setitem__)
    assert (tmp_path / "order").read_text().split() == ["first", "second", "last"]
    assert [line.split(":")[0] for line in heard] == ["first", "second", "last"]
    assert heard[-1].endswith("(3 of 3)")
    assert list(took) == ["first", "second", "last"]
    assert min(took.values()) > 0


def test_the_first_that_can_begin_comes_first(tmp_path: Path) -> None:
    """By one process, with its share of the cores and without bars."""
    names = [f"job-{i}" for i in range(5)]
    also = Job("threads", partial(note_threads, tmp_path))
    work([*jobs(tmp_path, *names), also], 1, lambda line: None)
    ran = (tmp_path / "order").read_text().splitlines()
    assert ran == ["first", "second", "last", *names, f"{os.cpu_count()} threads, bars False"]


def test_an_error_comes_through_and_nothing_begins_after_it(tmp_path: Path) -> None:
    bad = Job("bad", partial(fail, tmp_path))
    with pytest.raises(BadInput, match="cannot be done"):
        work([bad, Job("later", partial(note, tmp_path, "later"), ("bad",))], 1, lambda line: None)
    assert not (tmp_path / "order").exists()


def test_a_killed_worker_is_told_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Stopped, match="fewer --workers"):
        work([Job("dies", partial(die, tmp_path))], 1, lambda line: None)


def test_jobs_that_wait_for_ever(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not there"):
        work([Job("a", partial(note, tmp_path, "a"), ("nobody",))], 1, lambda line: None)


def test_a_worker_that_has_grown_stays(tmp_path: Path) -> None:
    """One with a model has; another would have to read it again."""
    work([Job(f"{i}", partial(grow, tmp_path, seconds)) for i, seconds in enumerate((0, 1.1, 0))], 1, lambda line: None)
    assert len(set((tmp_path / "order").read_text().splitlines())) == 1


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_the_process_that_began_them(how: signal.Signals, tmp_path: Path) -> None:
    code = (
        "import signal; from pathlib import Path; from functools import partial\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # the suite may run where Ctrl-C is ignored
        "from assay_studies.workers import Job, work; from test_workers import wait_long\n"
        f"if __name__ == '__main__': work([Job('waits', partial(wait_long, Path({str(tmp_path)!r})))], 1, print)\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    told = subprocess.PIPE
    parent = subprocess.Popen(
        [sys.executable, str(script)], env={**os.environ, "PYTHONPATH": paths}, stderr=told, process_group=0
    )
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "", 60)
    child = int((tmp_path / "pid").read_text())
    began = time.monotonic()
    os.killpg(parent.pid, how) if how == signal.SIGINT else parent.kill()  # Ctrl-C reaches the whole group
    assert parent.wait(timeout=30) != 0
    assert time.monotonic() - began < 5  # 0.3 s on an idle machine
    until(lambda: not alive(child), 20)
    assert parent.stderr is not None
    assert parent.stderr.read().count(b"Traceback") <= 1  # the parent's own


def wait_long(place: Path) -> None:
    (place / "pid").write_text(str(os.getpid()))
    time.sleep(300)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def until(true: object, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not true():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.parametrize("name", ["rationales", "edits", "concepts"])
def test_a_study_that_runs_in_one_process_says_so(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="one process"):
        find_study(name)(Request(data=tmp_path, out=tmp_path / "out", workers=2))


def test_no_workers(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="1 or more, not 0"):
        Request(data=tmp_path, workers=0)
