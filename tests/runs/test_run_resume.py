"""Resuming: whatever happens, the same command ends with the results of a run that nothing happened to."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

import assay
from assay.errors import AssayError, BadFile, BadInput, Stopped
from assay.runs import executors
from assay.runs.plan import RunPlan
from assay.runs.run import run
from assay.runs.status import status
from assay.verbs import Aims
from run_toys import await_shard, command, dataset, notes, ran, request, shards


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return dataset(tmp_path)


def broken_after(monkeypatch: pytest.MonkeyPatch, error: BaseException, kept: int) -> None:
    """An inline executor that fails when it has delivered so many shards."""
    inline = executors.find("inline")

    def execute(job: Any, todo: Any, options: Any) -> Any:
        for i, finished in enumerate(inline(job, todo, options)):
            if i == kept:
                raise error
            yield finished

    monkeypatch.setattr(executors, "find", lambda name: execute)


def test_a_run_gives_what_explain_gives(rows: Path, tmp_path: Path) -> None:
    ran(rows, tmp_path / "out", methods=["leave_one_out", "lime"])
    texts = [line.partition(",")[2] for line in rows.read_text().splitlines()[1:]]
    model = assay.load("run_models:sentiment")
    told = list(assay.open(tmp_path / "out").explanations("leave_one_out"))
    for one, other in zip(told, assay.explain(model, texts, "leave_one_out", progress=False), strict=True):
        assert one.text == other.text
        assert one.scores == pytest.approx(other.scores, abs=1e-9)
    again = list(assay.open(tmp_path / "out").explanations("lime"))
    for i in (0, 7, 59):  # its seed is enough to make an explanation again
        made = assay.explain(model, texts[i], "lime", seed=again[i].about.seed, progress=False)
        assert again[i].scores == pytest.approx(made.scores, abs=1e-9)


def test_an_interrupted_run_goes_on_and_ends_the_same(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ran(rows, tmp_path / "whole", checks=["sufficiency"])
    with monkeypatch.context() as patch:
        broken_after(patch, KeyboardInterrupt(), 2)
        with pytest.raises(Stopped, match=r"20 of 60 rows are kept in .*out\. To go on: the same command"):
            ran(rows, tmp_path / "out", checks=["sufficiency"])
    assert status(tmp_path / "out").state == "stopped"
    assert list(shards(tmp_path / "out")) == list(shards(tmp_path / "whole"))[:2]
    again = ran(rows, tmp_path / "out", checks=["sufficiency"])
    assert shards(tmp_path / "out") == shards(tmp_path / "whole")
    assert again.plan == whole.plan
    assert len(notes(tmp_path / "out", "handed out")) == 6 + 1  # the third shard was under way
    assert (tmp_path / "out" / "DONE").read_text() == (tmp_path / "whole" / "DONE").read_text()


def test_a_done_run_does_nothing_more(rows: Path, tmp_path: Path) -> None:
    ran(rows, tmp_path / "out")
    before = shards(tmp_path / "out")
    ran(rows, tmp_path / "out")
    assert shards(tmp_path / "out") == before
    assert len(notes(tmp_path / "out", "handed out")) == 6


def test_bad_shards_are_set_aside_and_made_anew(rows: Path, tmp_path: Path) -> None:
    ran(rows, tmp_path / "out")
    before = shards(tmp_path / "out")
    paths = sorted((tmp_path / "out" / "shards").iterdir())
    paths[1].write_bytes(paths[1].read_bytes()[:-1])
    paths[3].unlink()
    paths[4].with_name(paths[4].name.replace("00004", "00009")).write_bytes(paths[4].read_bytes())
    (paths[0].parent / ".00002-x.parquet.part").write_bytes(b"half")
    ran(rows, tmp_path / "out")
    assert shards(tmp_path / "out") == before
    assert len(list((tmp_path / "out" / "aside").iterdir())) == 3  # never deleted
    assert [note["shard"] for note in notes(tmp_path / "out", "handed out")][6:] == [1, 3]


def test_other_settings_are_refused_with_what_differs(rows: Path, tmp_path: Path) -> None:
    ran(rows, tmp_path / "out")
    with pytest.raises(BadInput, match="seed was 0, is 3") as said:
        ran(rows, tmp_path / "out", aims=Aims(seed=3), methods=["random"])
    assert "methods.leave_one_out" in str(said.value)
    with pytest.raises(BadInput, match="shard_size was 10, is 20"):
        ran(rows, tmp_path / "out", shard_size=20)
    rows.write_text(rows.read_text().replace("k7,", "k8,"))
    with pytest.raises(BadInput, match=r"input\.digest was"):
        ran(rows, tmp_path / "out")
    assert shards(tmp_path / "out")


def test_threads_of_the_first_start_hold_for_the_resume(rows: Path, tmp_path: Path) -> None:
    ran(rows, tmp_path / "out", threads=3)
    assert ran(rows, tmp_path / "out", threads=None).plan.settings["threads"] == 3
    with pytest.raises(BadInput, match="threads was 3, is 2"):
        ran(rows, tmp_path / "out", threads=2)


def test_an_input_that_changes_or_vanishes_stops_the_run(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inline, data = executors.find("inline"), rows.read_bytes()

    def meddled(change: Any) -> Any:
        def execute(job: Any, todo: Any, options: Any) -> Any:
            for i, finished in enumerate(inline(job, todo, options)):
                yield finished
                if i == 1:
                    change()

        return lambda name: execute

    for change, said in ((rows.unlink, "vanished"), (lambda: rows.write_bytes(data + b"k,x\n"), "was changed")):
        rows.write_bytes(data)
        with monkeypatch.context() as patch:
            patch.setattr(executors, "find", meddled(change))
            with pytest.raises(Stopped, match=said):
                ran(rows, tmp_path / said)
        assert len(shards(tmp_path / said)) == 2
        rows.write_bytes(data)
        ran(rows, tmp_path / said)
    assert shards(tmp_path / "vanished") == shards(tmp_path / "was changed")
    rows.unlink()
    with pytest.raises(BadFile):
        ran(rows, tmp_path / "new")


def test_a_directory_of_other_things_is_refused(rows: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(BadInput, match=r"thesis\.tex"):
        ran(rows, tmp_path / "mine")
    with pytest.raises(BadFile):
        ran(rows, rows / "below a file")


def test_rows_with_errors_are_kept_and_the_run_goes_on(tmp_path: Path) -> None:
    path = dataset(tmp_path)
    path = path.with_name("bad.jsonl")
    path.write_text('{"text": "a good film"}\n{"text": ""}\nno json\n{"text": "KILL it"}\n{"text": "fine"}\n')

    summary = ran(path, tmp_path / "out", model="run_models:touchy", columns={"column": "text"}, shard_size=2)
    frame = assay.open(tmp_path / "out").to_pandas()
    assert frame["row"].tolist() == [0, 1, 2, 3, 4]
    assert frame["status"].tolist() == ["ok", "failed", "unreadable", "failed", "ok"]
    assert frame["error"].tolist()[1:4] == ["EmptyText", "BadFile", "ModelFailed"]
    assert "no such word" in frame["message"][3]
    assert summary.error_rate == 3 / 5


def test_a_bug_in_a_method_is_an_error_of_its_rows(rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.methods.input_features.leave_one_out import LeaveOneOut

    right = LeaveOneOut.explain

    def wrong(self: Any, case: Any) -> Any:
        if len(case.text) == 1:
            raise ZeroDivisionError("one word")
        return (yield from right(self, case))

    monkeypatch.setattr(LeaveOneOut, "explain", wrong)
    ran(rows, tmp_path / "out")
    frame = assay.open(tmp_path / "out").to_pandas()
    single = frame["text"].str.split().str.len() == 1
    assert single.any()
    assert ((frame["status"] == "failed") == single).all()
    assert frame["message"][single].str.contains("ZeroDivisionError: one word").all()


def test_an_error_that_is_nobodys_own_costs_only_the_row_that_causes_it(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.models.black_box import BlackBox

    right = BlackBox.encode

    def wrong(self: Any, kind: Any, given: Any) -> Any:
        if any("superb" in row[0] for row in given):
            raise TypeError("the tokenizer fails")
        return right(self, kind, given)

    monkeypatch.setattr(BlackBox, "encode", wrong)
    ran(rows, tmp_path / "out")
    frame = assay.open(tmp_path / "out").to_pandas()
    assert ((frame["status"] == "failed") == frame["text"].str.contains("superb")).all()


def test_what_no_row_could_get_past_is_an_error_of_the_run(rows: Path, tmp_path: Path) -> None:
    for changes in (
        {"methods": ["gradient"]},
        {"methods": ["lyme"]},
        {"checks": ["nothing"]},
        {"aims": Aims(target="happy")},
        {"executor": "spork"},
        {"model": "run_models:missing"},
        {"aims": Aims(split=lambda string: [])},
    ):
        with pytest.raises(AssayError) as said:
            ran(rows, tmp_path / "out", **changes)
        assert not isinstance(said.value, Stopped)


def test_the_plan_is_a_pure_function_of_input_settings_and_size(rows: Path, tmp_path: Path) -> None:
    one, other = ran(rows, tmp_path / "one"), ran(rows.rename(tmp_path / "moved.csv"), tmp_path / "two")
    assert one.plan.digest == other.plan.digest == RunPlan.at(tmp_path / "two").digest
    assert shards(tmp_path / "one") == shards(tmp_path / "two")


def test_two_runs_at_once_are_refused(rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inline = executors.find("inline")

    def execute(job: Any, todo: Any, options: Any) -> Any:
        with pytest.raises(BadInput, match="is in use by process"):
            run(*request(rows, tmp_path / "out"))
        assert status(tmp_path / "out").state == "running"
        yield from inline(job, todo, options)

    monkeypatch.setattr(executors, "find", lambda name: execute)
    ran(rows, tmp_path / "out")


# The command in a process of its own


def arguments(out: Path, *more: str) -> list[str]:
    settings = ["--model", "run_models:slow", "-m", "leave_one_out", "--column", "text", "--shard-size", "25"]
    return ["run", "rows.csv", "--out", str(out), *settings, "--threads", "1", *more]


def test_a_polite_kill_gives_75_and_the_command(tmp_path: Path) -> None:
    dataset(tmp_path, 2000)
    process = command(*arguments(tmp_path / "out"), place=tmp_path)
    await_shard(process, tmp_path / "out")
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 75, said
    assert said.count(b"\n") <= 2
    assert b"rows are kept" in said
    assert b"To go on: assay run rows.csv --out" in said


def test_killed_at_random_instants_it_ends_the_same(tmp_path: Path) -> None:
    """A few kills; benchmarks/kills.py does a hundred with both executors."""
    dataset(tmp_path, 1000)
    whole = command(*arguments(tmp_path / "whole"), place=tmp_path)
    began = time.time()
    assert whole.wait(timeout=120) == 0
    took, rng, kills = time.time() - began, Random(11), 0
    while kills < 4:
        process = command(*arguments(tmp_path / "out"), place=tmp_path)
        time.sleep(rng.uniform(0.3, 0.9) * took)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
        if (tmp_path / "out" / "DONE").exists():
            break
    assert kills
    last = command(*arguments(tmp_path / "out"), place=tmp_path)
    assert last.wait(timeout=120) == 0
    assert shards(tmp_path / "out") == shards(tmp_path / "whole")
    assert len(notes(tmp_path / "out", "handed out")) <= 40 + kills


def test_a_function_that_was_edited_is_another_model(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a stop, an edit: the rest is not explained by another model than the beginning."""
    module, out = rows.with_name("run_models.py"), tmp_path / "out"
    source = module.read_text()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(rows.parent))
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, "run_models", raising=False)
        broken_after(patch, KeyboardInterrupt(), 2)
        with pytest.raises(Stopped):
            ran(rows, out)
    kept = shards(out)
    module.write_text(source.replace("/ 700", "/ 350"))
    monkeypatch.delitem(sys.modules, "run_models", raising=False)
    with pytest.raises(BadInput, match=r"another sentiment: the model was changed since, .* not mixed\. Use another"):
        ran(rows, out)
    assert shards(out) == kept
    module.write_text(f"# a comment\n{source}")
    monkeypatch.delitem(sys.modules, "run_models", raising=False)
    assert ran(rows, out).progress.kept == 60


def test_a_function_that_draws_can_be_resumed_and_it_is_said(
    rows: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from random import random

    def drawn(texts: Any) -> Any:
        return [random() for _ in texts]

    for _ in range(2):
        caplog.clear()
        ran(rows, tmp_path / "out", model=drawn)
        assert "drawn answers the same text differently from call to call" in caplog.text
