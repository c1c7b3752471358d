"""Disks that are full or read-only, inputs that vanish or change: each for real, and the same command ends the run."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import run_disks
from run_toys import SOURCE, command, dataset, shards

Run = Callable[..., tuple[int, str, str]]
APART = ["unshare", "--map-root-user", "--mount"]
AGAIN = "go on: assay run rows.csv --out"
USUAL = ("run", "rows.csv", "--model", "run_models:meddled", "-m", "leave_one_out", "--column", "text")
LINE = (*USUAL, "--threads", "1", "--shard-size", "10", "-q")


@cache
def mountable() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*APART, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0


def on_disks(place: Path, *arguments: str) -> list[dict[str, Any]]:
    """What run_disks.py saw, in a namespace whose mounts nobody else sees."""
    if not mountable():
        pytest.skip("no disk can be mounted here, not even in a namespace (unshare --map-root-user --mount)")
    dataset(place)
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
    line = [*APART, sys.executable, run_disks.__file__, str(place), *arguments]
    done = subprocess.run(line, cwd=place, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [json.loads(one) for one in done.stdout.splitlines()]


def one_line(said: str) -> str:
    assert "Traceback" not in said
    assert said.count("\n") == 1, said
    return said


def test_a_disk_that_is_full_stops_the_run_anywhere_and_with_room_it_ends_the_same(tmp_path: Path) -> None:
    """Full at the lock, the plan, a shard, the verdicts; nothing half is kept, no lock is left behind."""
    whole, *tries = on_disks(tmp_path, "full", "4", "8", "12", "16", "32", "48", "76", "88")
    assert whole["first"] == [0, ""]
    kept = set()
    for one in tries:
        code, said = one["first"]
        assert code == 75, one
        assert "No space left on device" in one_line(said)
        assert AGAIN in said
        assert "lock" not in one["left"]
        assert one["kept"].items() <= whole["held"].items()
        assert one["again"] == [0, ""]
        assert one["held"] == whole["held"]
        kept.add(len(one["kept"]))
    assert {0, 1, 4} <= kept


def test_a_read_only_disk(tmp_path: Path) -> None:
    whole, one = on_disks(tmp_path, "read-only")
    assert whole["first"] == [0, ""]
    for name, code in (("new", 2), ("middle", 75), ("resumed", 2)):
        assert one[name][0] == code, one[name]
        assert "Read-only file system" in one_line(one[name][1])
        assert AGAIN in one[name][1]
    assert 0 < len(one["kept"]) < 4
    assert one["kept"].items() <= whole["held"].items()
    assert one["status"] == [0, ""]
    assert one["page"][0] == 2
    assert "disk/page.html cannot be written: Read-only file system" in one_line(one["page"][1])
    assert one["again"] == [0, ""]
    assert one["held"] == whole["held"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root; the read-only disk stands for it")
def test_a_directory_without_permission(assay_: Run, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o555)
    code, _, said = assay_(*LINE, "--out", "closed/out")
    assert code == 2
    assert "Permission denied" in one_line(said)


@pytest.mark.parametrize("limit", [50, 12_000])
def test_a_file_that_may_not_grow_stops_the_run(
    limit: int, assay_: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no disk can be mounted: a limit on the size of files stops at the lock or at the first shard.

    Python itself must write no bytecode within it: what it cuts short there would break every command after.
    """
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    dataset(tmp_path, 200)
    line, sizes = [*LINE, "--shard-size", "100"], (resource.RLIMIT_FSIZE, (limit, limit))
    process = command(*line, "--out", "out", place=tmp_path, preexec_fn=lambda: resource.setrlimit(*sizes))
    _, said = process.communicate(timeout=120)
    assert process.returncode == 75, said
    assert "File too large" in one_line(said.decode())
    assert b"To go on: assay run rows.csv" in said
    assert shards(tmp_path / "out") == {}
    assert not (tmp_path / "out" / "lock").exists()
    for out in ("out", "whole"):
        assert assay_(*line, "--out", out) == (0, "", "")
    assert shards(tmp_path / "out") == shards(tmp_path / "whole")


@pytest.mark.parametrize(
    ("meddle", "said"),
    [
        (
            "os.rename('rows.csv', 'rows.old')",
            "the input rows.csv has vanished (No such file or directory); put it back",
        ),
        ("open('rows.csv', 'a').write('k,x y\\n')", "the input rows.csv was changed while the run read it"),
        ("open('rows.csv', 'r+').write('id,text\\nk9')", "the input rows.csv was changed while the run read it"),
        ("os.truncate('rows.csv', 100)", "the input rows.csv was changed while the run read it"),
    ],
)
def test_an_input_that_is_meddled_with_while_the_run_works(assay_: Run, tmp_path: Path, meddle: str, said: str) -> None:
    data = (tmp_path / "rows.csv").read_bytes()
    assert assay_(*LINE, "--out", "whole") == (0, "", "")
    (tmp_path / "meddle.py").write_text(meddle)
    code, _, heard = assay_(*LINE, "--out", "out")
    assert code == 75
    assert said in one_line(heard)
    assert "of 60 rows are kept in out. To go on: assay run rows.csv" in heard
    kept, whole = shards(tmp_path / "out"), shards(tmp_path / "whole")
    assert 0 < len(kept) < len(whole)
    assert kept.items() <= whole.items()
    (tmp_path / "meddle.py").unlink()
    (tmp_path / "rows.csv").write_bytes(data)
    assert assay_(*LINE, "--out", "out") == (0, "", "")
    assert shards(tmp_path / "out") == whole


def test_an_input_that_is_gone_or_another_when_the_run_goes_on(assay_: Run, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    data = rows.read_bytes()
    assert assay_(*LINE, "--out", "whole")[0] == 0
    (tmp_path / "meddle.py").write_text("raise KeyboardInterrupt")
    code, _, said = assay_(*LINE, "--out", "out")
    assert code == 130
    assert "stopped by Ctrl-C" in one_line(said)
    assert "To go on: assay run rows.csv" in said
    (tmp_path / "meddle.py").unlink()
    kept = shards(tmp_path / "out")
    rows.write_bytes(data.replace(b"k7,", b"k8,"))
    code, _, said = assay_(*LINE, "--out", "out")
    assert code == 2
    assert "out holds a run of another rows.csv: input.digest was" in one_line(said)
    assert "put the old file back and go on: assay run rows.csv" in said
    rows.unlink()
    code, _, said = assay_(*LINE, "--out", "out")
    assert code == 2
    assert "rows.csv cannot be read: No such file or directory. out holds a run of it" in one_line(said)
    assert "when it is back: assay run rows.csv" in said
    assert shards(tmp_path / "out") == kept
    rows.write_bytes(data)
    assert assay_(*LINE, "--out", "out") == (0, "", "")
    assert shards(tmp_path / "out") == shards(tmp_path / "whole")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
def test_an_output_without_room_is_one_line(assay_: Run, tmp_path: Path) -> None:
    assert assay_(*LINE, "--out", "out")[0] == 0
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    for line in (["status", "out"], ["status", "out", "--json"]):
        with open("/dev/full", "w") as nowhere:
            told = subprocess.run(
                [sys.executable, "-m", "assay.cli", *line], env=environment, stdout=nowhere, stderr=subprocess.PIPE
            )
        assert told.returncode == 2
        assert one_line(told.stderr.decode()) == "assay: stdout cannot be written: No space left on device.\n"


def test_a_page_into_a_link_is_written_where_it_points(assay_: Run, tmp_path: Path) -> None:
    """What is no plain file is written into and stays what it is."""
    assert assay_(*LINE, "--out", "out")[0] == 0
    (tmp_path / "page.html").symlink_to("there.html")
    (tmp_path / "nowhere").symlink_to("/dev/null")
    for name in ("page.html", "nowhere"):
        assert assay_("report", "out", "--html", name)[0] == 0
        assert (tmp_path / name).is_symlink()
    assert "<html" in (tmp_path / "there.html").read_text()
