"""Runs that share a directory: one has it, the other is refused; and nobody touches a user's files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import assay
from assay.errors import BadInput
from assay.runs.holding import held
from assay.runs.run import run
from assay.storage.lock import Lock
from run_toys import SOURCE, command, dataset, ran, request, shards

Run = Callable[..., tuple[int, str, str]]
USUAL = ("--column", "text", "--model", "run_models:sentiment", "-m", "leave_one_out", "--threads", "1", "-q")
RACES = SOURCE.parent / "benchmarks" / "together.py"


def test_of_two_that_start_together_one_finishes_and_the_other_is_refused() -> None:
    """Some of the races of benchmarks/together.py, which runs fifty of them."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    line = [sys.executable, str(RACES), "--times", "2", "--seed", "3"]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300)
    assert json.loads(done.stdout) == {"well": 2}, done.stderr


def test_a_run_refused_while_another_makes_its_plan_leaves_all_in_place(tmp_path: Path) -> None:
    """The second comes while the first loads its model: after the lock, before the plan."""
    path = dataset(tmp_path)
    (tmp_path / "meeting.py").write_text(
        "import os, pathlib, subprocess, sys\n"
        "from run_models import sentiment\n"
        "if 'SECOND' not in os.environ:\n"
        "    line = [sys.executable, '-m', 'assay.cli', *sys.argv[1:]]\n"
        "    done = subprocess.run(line, env={**os.environ, 'SECOND': '1'}, capture_output=True, text=True)\n"
        "    pathlib.Path('second.txt').write_text(f'{done.returncode} {done.stderr}')\n"
    )
    line = ("run", path.name, *USUAL, "--model", "meeting:sentiment", "--out", "out")
    first = command(*line, place=tmp_path)
    _, said = first.communicate(timeout=120)
    assert first.returncode == 0, said
    assert (tmp_path / "second.txt").read_text().startswith("2 assay: out is in use by process")
    assert len(shards(tmp_path / "out")) == 1
    assert (tmp_path / "out" / "DONE").exists()


def test_who_does_not_get_the_lock_makes_and_removes_nothing(tmp_path: Path) -> None:
    path, out = dataset(tmp_path), tmp_path / "out"
    out.mkdir()
    with Lock(out):
        (out / "shards").mkdir()
        (out / "input.txt").write_text("kept by the other one")
        before = sorted(p.name for p in out.iterdir())
        with pytest.raises(BadInput, match="is in use by process"):
            run(*request(path, out))
        assert sorted(p.name for p in out.iterdir()) == before


def test_a_directory_that_another_run_just_removes_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two are refused at once: the one that made the directory removes it under the other's feet."""
    make, gone = Lock._make, []

    def removed_first(self: Lock) -> bool:
        if not gone:
            gone.append(self.path.parent.rmdir())  # type: ignore[func-returns-value]
        return make(self)

    monkeypatch.setattr(Lock, "_make", removed_first)
    with held(tmp_path / "out", lambda: None) as (directory, lock):
        lock.require()
        assert directory.path.is_dir()


@pytest.mark.parametrize("name", ["DONE", "verdicts.parquet", "lock", "progress.json", "journal.jsonl", "input.csv"])
@pytest.mark.parametrize("content", ["mine", ""])
def test_a_users_file_under_one_of_our_names_is_left_alone(
    assay_: Run, tmp_path: Path, name: str, content: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text(content)
    for line in (("rows.csv",), ("-", "--format", "csv")):
        code, _, said = assay_("run", *line, *USUAL, "--out", "out", stdin=b"text\ngood\n")
        assert code == 2
        assert said.count("\n") == 1
        assert name in said
        assert [p.name for p in out.iterdir()] == [name]
        assert (out / name).read_text() == content


@pytest.mark.parametrize("name", ["shards", "aside"])
def test_a_users_folder_under_one_of_our_names_is_left_alone(assay_: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "out" / name).mkdir(parents=True)
    mine = tmp_path / "out" / name / "00000-mine.parquet"
    mine.write_text("mine")
    code, _, said = assay_("run", "rows.csv", *USUAL, "--out", "out")
    assert (code, said.count("\n")) == (2, 1)
    assert mine.read_text() == "mine"
    assert [p for p in (tmp_path / "out").rglob("*") if p.is_file()] == [mine]


OURS = ["shards", "aside", "journal.jsonl", "plan.json", "lock", "DONE", "verdicts.parquet", "progress.json"]


@pytest.mark.parametrize("planned", [False, True])
@pytest.mark.parametrize("name", OURS)
def test_a_link_under_one_of_our_names_is_neither_followed_nor_replaced(
    tmp_path: Path, name: str, planned: bool
) -> None:
    path, out, there = dataset(tmp_path, 10), tmp_path / "out", tmp_path / "there"
    out.mkdir()
    if planned:
        ran(path, out)
        if (out / name).exists():
            (out / name).rename(there)
    if not there.exists():
        there.mkdir() if name in ("shards", "aside") else there.write_text("mine")
    (out / name).symlink_to(there)
    before = {p: p.is_file() and p.read_bytes() for p in tmp_path.rglob("*")}
    with pytest.raises(BadInput, match=f"{name} is a link"):
        ran(path, out)
    assert (out / name).is_symlink()
    assert {p: p.is_file() and p.read_bytes() for p in tmp_path.rglob("*")} == before


@pytest.mark.parametrize("name", ["shards", "plan.json", "shard"])
def test_a_link_is_not_read_through(assay_: Run, tmp_path: Path, name: str) -> None:
    """What stands behind it is not in the directory that was named."""
    path, out = dataset(tmp_path, 10), tmp_path / "out"
    ran(path, out)
    place = next((out / "shards").iterdir()) if name == "shard" else out / name
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="is a link"):
        assay.open(out)
    for line in (("status", "out"), ("query", "out", "select 1"), ("report", "out", "--html", "page.html")):
        code, _, said = assay_(*line)
        assert (code, said.count("\n")) == (2, 1)
        assert "is a link" in said


def test_a_link_to_nowhere_is_not_written_through(tmp_path: Path) -> None:
    path, out = dataset(tmp_path, 10), tmp_path / "out"
    out.mkdir()
    for name in OURS:
        (out / name).symlink_to(tmp_path / "nowhere")
        with pytest.raises(BadInput, match="is a link"):
            ran(path, out)
        (out / name).unlink()
    assert not (tmp_path / "nowhere").exists()


def test_a_users_plan_is_no_run(assay_: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for plan in ('{"my": "plan"}', "[]", '{"settings": 1, "notes": 2}', "to do: sleep"):
        (tmp_path / "out" / "plan.json").write_text(plan)
        code, _, said = assay_("run", "-", *USUAL, "--out", "out", stdin=b"good\n")
        assert (code, said.count("\n")) == (2, 1)
        assert "plan.json cannot be read as a plan" in said
        assert [p.name for p in (tmp_path / "out").iterdir()] == ["plan.json"]


def test_a_run_killed_before_its_plan_goes_on_with_the_stdin_that_it_kept(assay_: Run, tmp_path: Path) -> None:
    """It leaves its lock, which tells that the file is ours."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    out = tmp_path / "out"
    out.mkdir()
    with Lock(out) as lock:
        named = lock.path.read_text()
    (out / "lock").write_text(named.replace(f'"pid": {os.getpid()}', f'"pid": {dead.pid}'))
    (out / "input.txt").write_bytes(b"good film\n")
    assert assay_("run", "-", *USUAL, "--out", "out")[0] == 0
    assert len(shards(out)) == 1
