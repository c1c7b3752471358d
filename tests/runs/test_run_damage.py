"""Damaged and missing shards: every reader says so, none gives other data, and the same command makes them anew."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import assay
from assay.errors import BadFile
from assay.runs import trusting
from assay.runs.plan import RunPlan
from assay.runs.report import report
from assay.runs.status import status
from assay.runs.trusting import require_trusted
from run_toys import SOURCE, dataset, ran, shards

Run = Callable[..., tuple[int, str, str]]
LINE = ("run", "rows.csv", "--column", "text", "--model", "run_models:sentiment", "-m", "leave_one_out")
USUAL = (*LINE, "--threads", "1", "--shard-size", "10", "-q", "--out", "out")


def test_every_reader_finds_every_flipped_bit() -> None:
    """Some of the 300 trials of benchmarks/flips.py, which asks every reader after each."""
    pytest.importorskip("duckdb")
    line = [sys.executable, str(SOURCE.parent / "benchmarks" / "flips.py"), "--flips", "15", "--seed", "5"]
    done = subprocess.run(line, env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert set(found) >= {"to_arrow", "to_pandas", "explanations", "verdicts", "query", "report", "status"}
    assert all(counts == {"said so": 15} for counts in found.values()), done.stdout


@pytest.fixture
def done(tmp_path: Path) -> Path:
    ran(dataset(tmp_path), tmp_path / "out", checks=["sufficiency"])
    return tmp_path / "out"


def test_a_shard_that_is_gone_is_missed(done: Path, assay_: Run) -> None:
    sorted((done / "shards").iterdir())[2].unlink()
    gone = r"1 of 6 shards are gone, the first with rows 20 to 29; run the same command again"
    held = assay.open(done)
    for read in (held.to_arrow, held.to_pandas, held.verdicts, lambda: list(held.explanations()), lambda: report(held)):
        with pytest.raises(BadFile, match=gone):
            read()
    state = status(done)
    assert (state.state, state.kept, state.shards_kept) == ("damaged", 50, 5)
    assert state.damaged == ("shard 2 (its file is gone)",)
    assert "to go on: the same command" in state.lines()
    pytest.importorskip("duckdb")
    code, out, said = assay_("query", "out", "select count(*) from explanations")
    assert (code, out) == (2, "")
    assert "1 of 6 shards are gone" in said


def test_status_names_a_damaged_shard_and_the_same_command_mends_it(assay_: Run, tmp_path: Path) -> None:
    assert assay_(*USUAL)[0] == 0
    before = shards(tmp_path / "out")
    path = sorted((tmp_path / "out" / "shards").iterdir())[1]
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    code, out, _ = assay_("status", "out")
    assert code == 0
    assert out.splitlines()[0] == "out: damaged"
    assert f"damaged: {path.name} (its bytes are not those that were written)" in out
    assert out.splitlines()[-1] == f"to go on: assay {' '.join(USUAL)}"
    assert json.loads(assay_("status", "out", "--json")[1])["state"] == "damaged"
    assert assay_(*USUAL) == (0, "", "")
    assert shards(tmp_path / "out") == before
    assert status(tmp_path / "out").state == "done"
    assert len(list((tmp_path / "out" / "aside").iterdir())) == 1


def test_an_unfinished_run_is_read_and_a_query_says_how_much_of_it(assay_: Run, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    assert assay_(*USUAL)[0] == 0
    (tmp_path / "out" / "DONE").unlink()
    sorted((tmp_path / "out" / "shards").iterdir())[0].unlink()
    assert assay.open(tmp_path / "out").to_arrow().num_rows == 50
    assert status(tmp_path / "out").state == "stopped"
    code, out, said = assay_("query", "out", "select count(*) as n from explanations", "--json")
    assert (code, json.loads(out)) == (0, {"n": 50})
    assert "not done; the answer is about the 50 of 60 rows" in said


def test_the_table_of_verdicts_is_checked_too(done: Path) -> None:
    pytest.importorskip("duckdb")
    from assay.runs.query import query

    asked = "select * from verdicts"
    before = query(assay.open(done), asked).to_pylist()
    assert len(before) == 1
    path = done / "verdicts.parquet"
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(bytes(data))
    assert query(assay.open(done), asked).to_pylist() == before  # counted anew
    path.unlink()
    assert query(assay.open(done), asked).to_pylist() == before


def test_a_done_of_another_plan_is_none(done: Path) -> None:
    facts = json.loads((done / "DONE").read_text())
    (done / "DONE").write_text(json.dumps(facts | {"plan": "another"}))
    assert not assay.open(done).done
    (done / "DONE").write_text("mine")
    assert status(done).state == "stopped"


def test_a_file_is_checked_once_and_again_when_it_was_written_to(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []
    whole = trusting.require_whole
    monkeypatch.setattr(trusting, "require_whole", lambda path, *more: (asked.append(path), whole(path, *more)))
    plan, path = RunPlan.at(done), sorted((done / "shards").iterdir())[0]
    now = time.time()
    monkeypatch.setattr(trusting, "time", lambda: now)
    require_trusted(path, plan)
    require_trusted(path, plan)
    assert len(asked) == 2  # written a moment ago: another write might bear the same time
    monkeypatch.setattr(trusting, "time", lambda: now + 60)
    for _ in range(3):
        require_trusted(path, plan)
    assert len(asked) == 3
    path.write_bytes(path.read_bytes()[::-1])
    with pytest.raises(BadFile, match="is damaged"):
        require_trusted(path, plan)
