"""The commands: run, status, query, report; their exit codes and their one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from run_toys import shards

Run = Callable[..., tuple[int, str, str]]
USUAL = ("-m", "leave_one_out,random", "--model", "run_models:sentiment", "--threads", "1", "--shard-size", "20")


def test_a_run_its_status_its_answers_and_its_page(assay_: Run, tmp_path: Path) -> None:
    code, out, err = assay_("run", "rows.csv", "--column", "text", *USUAL, "-c", "sufficiency", "--out", "out")
    assert code == 0
    assert "Leave-one-out, Sufficiency ↓: better than random" in out
    assert out.endswith("out: done, 60 rows, 0 errors\n")
    assert err == "assay: 60 rows in 3 shards by leave_one_out, random\n"
    code, out, _ = assay_("status", "out")
    assert code == 0
    assert out.splitlines()[0] == "out: done"
    assert "60 of 60 rows, 3 of 3 shards" in out
    assert json.loads(assay_("status", "out", "--json")[1])["state"] == "done"
    pytest.importorskip("duckdb")
    code, out, _ = assay_("query", "out", "select method, count(*) n from explanations group by 1 order by 1", "--json")
    assert [json.loads(line) for line in out.splitlines()] == [
        {"method": m, "n": 60} for m in ("leave_one_out", "random")
    ]
    assert "leave_one_out" in assay_("query", "out", "select method, avg(score) from words group by 1")[1]
    code, out, _ = assay_("report", "out", "--html", "page.html")
    assert code == 0
    assert out.endswith("wrote page.html\n")
    assert "better than random" in (tmp_path / "page.html").read_text()


def test_the_same_command_goes_on_and_another_one_is_refused(assay_: Run, tmp_path: Path) -> None:
    line = ("run", "rows.csv", "--column", "text", *USUAL, "--out", "out", "-q")
    assert assay_(*line) == (0, "", "")
    before = shards(tmp_path / "out")
    assert assay_(*line)[0] == 0
    code, _, err = assay_(*line, "--seed", "4")
    assert code == 2
    assert "seed was 0, is 4" in err
    assert shards(tmp_path / "out") == before


def test_stdin(assay_: Run) -> None:
    line = ("run", "-", *USUAL, "--out", "out", "-q")
    assert assay_(*line, stdin=b"a good film\nsuch a mess\n")[0] == 0
    assert assay_(*line)[0] == 0
    assert "2 of 2 rows" in assay_("status", "out")[1]
    assert assay_("run", "-", *USUAL, "--out", "new")[0] == 2
    lines = b'{"text": "fine"}\n'
    assert assay_("run", "-", "--format", "jsonl", *USUAL, "--out", "json", "-q", stdin=lines)[0] == 0


def test_too_many_errors_fail_at_the_end(assay_: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"text": "good"}\n{"text": ""}\n')
    line = ("run", "bad.jsonl", *USUAL, "--out", "out", "-q")
    code, _, err = assay_(*line)
    assert code == 2
    assert "2 of 4 explanations failed, more than --max-error-rate 0.05" in err
    assert "shows why. Most often: " in err
    assert (tmp_path / "out" / "DONE").exists()
    assert assay_(*line, "--max-error-rate", "0.5") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing.csv",), "cannot be read"),
        (("rows.csv", "--column", "nope"), "no column 'nope'"),
        (("rows.csv", "--column", "text", "-c", "nope"), "no check is called"),
        (("rows.csv", "--column", "text", "--executor", "spork"), "no executor is called"),
        (("rows.csv", "--column", "text", "-m", "nope"), "no method is called"),
        (("rows.csv", "--column", "text", "--shard-size", "0"), "--shard-size"),
        (("rows.csv", "--column", "text", "--log", "nope"), "no logger is called"),
        (("imdb",), "datasets"),
    ],
)
def test_bad_usage_is_one_line_and_2(assay_: Run, arguments: tuple[str, ...], said: str) -> None:
    code, out, err = assay_("run", *USUAL, "--out", "out", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_no_run_no_status(assay_: Run, tmp_path: Path) -> None:
    for line in (("status", "."), ("query", ".", "select 1"), ("report", "nowhere", "--html", "x.html")):
        code, _, err = assay_(*line)
        assert code == 2
        assert "holds no run" in err
    assert not (tmp_path / "x.html").exists()
