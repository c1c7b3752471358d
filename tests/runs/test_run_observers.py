"""Seeing it work: lines, bars, services; with fakes in place of the services."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.errors import BadInput, UnknownName
from assay.explanations.about import Cost
from assay.progress import lasting
from assay.runs import observers
from assay.runs.observers.lines import Lines
from assay.runs.observers.terminal import Terminal
from assay.runs.plan import RunPlan
from assay.runs.progress import Progress, Tracker
from assay.runs.run import run
from assay.storage import lock
from run_toys import dataset, request

PLAN = RunPlan(
    {"input": {"rows": 100}, "shard_size": 10, "methods": {"lime": {}}, "checks": {}, "model": {"name": "toy"}}, {}
)


def progress(**changes: Any) -> Progress:
    counts = {"rows": 100, "kept": 40, "shards": 10, "shards_kept": 4, "errors": 2, "asked": 50, "hits": 10}
    usual = {**counts, "rate": 8.0, "left": 7.5, "at": 0.0}
    return Progress(**(usual | changes))


def test_the_line_says_rows_rate_time_left_cache_and_errors() -> None:
    said = "40 of 100 rows (40%), 8.0 a second, 8 s left, 20% of model rows from the cache, 2 errors"
    assert progress().line() == said
    assert [lasting(s) for s in (5, 300, 7200, 400_000)] == ["5 s", "5 min", "2.0 h", "4.6 days"]


def test_the_tracker_counts_what_this_session_did(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("assay.runs.progress.monotonic", lambda: now[0])
    tracker = Tracker(methods=2)
    tracker.begin(PLAN, kept=50, shards=5, errors=1)
    now[0] = 10.0
    tracker.keep(10, 3, Cost(sequences=30, forwards=20, hits=10))
    tracker.tell(10)
    seen = tracker.now()
    assert (seen.kept, seen.shards_kept, seen.errors) == (60, 6, 4)
    assert seen.rate == pytest.approx((10 + 10 / 2) / 10)
    assert seen.left == pytest.approx((100 - 65) / 1.5)
    assert seen.hit_share == pytest.approx(1 / 3)


def test_a_log_gets_a_line_every_so_often(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(observers, "monotonic", lambda: now[0])
    lines = Lines()
    lines.began(PLAN)
    for second in range(0, 95, 5):
        now[0] = 100.0 + second
        lines.moved(progress(kept=second))
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "assay: 100 rows in 10 shards by lime"
    assert [line.split()[1] for line in said[1:]] == ["30", "60", "90"]


def test_the_bar_can_be_shown_without_a_terminal() -> None:
    bar = Terminal()
    bar.began(PLAN)
    bar.moved(progress(under_way=2.0))
    assert bar.bar.tasks[0].completed == 42
    assert "8.0 a second" in bar.bar.tasks[0].description
    bar.ended(progress())


def test_a_run_tells_its_observers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "BEAT", 0.005)
    told: list[str] = []

    class Listener:
        def began(self, plan: RunPlan) -> None:
            told.append(f"began {plan.rows}")

        def moved(self, progress: Progress) -> None:
            told.append("moved")

        def ended(self, progress: Progress) -> None:
            told.append(f"ended {progress.kept}")

    given = request(dataset(tmp_path), tmp_path / "out", model="run_models:slow")
    run(*given, [Listener()])
    assert told[0] in ("began 60", "moved")
    assert "moved" in told
    assert "ended 60" in told


class Calls(list[tuple[Any, ...]]):
    """Notes every call."""

    def __call__(self, *arguments: Any, **named: Any) -> None:
        self.append((*arguments, *named.values()))


def test_mlflow_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters, metrics, ends = Calls(), Calls(), Calls()
    client = SimpleNamespace(log_param=parameters, log_metric=metrics)
    started = SimpleNamespace(info=SimpleNamespace(run_id="r1"))
    fake = SimpleNamespace(
        active_run=lambda: None, start_run=lambda: started, end_run=ends, MlflowClient=lambda: client
    )
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    monkeypatch.delitem(sys.modules, "assay.runs.observers.mlflow", raising=False)
    logger = observers.logger("mlflow")
    logger.began(PLAN)
    logger.moved(progress())
    assert not metrics  # not every two seconds
    logger.ended(progress())
    assert ("r1", "methods", "lime") in parameters
    assert ("r1", "rows", 40.0, 40) in metrics
    assert len(ends) == 1


def test_wandb_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    logged, updated, finished = Calls(), Calls(), Calls()
    opened = SimpleNamespace(log=logged, finish=finished, config=SimpleNamespace(update=updated))
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(run=None, init=lambda project: opened))
    monkeypatch.delitem(sys.modules, "assay.runs.observers.wandb", raising=False)
    logger = observers.logger("wandb")
    logger.began(PLAN)
    logger.ended(progress())
    assert updated[0][0]["model"] == "toy"
    assert logged[0][0]["rows_per_second"] == 8.0
    assert len(finished) == 1


def test_unknown_or_missing_services_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="did you mean 'wandb'"):
        observers.logger("wandbb")
    monkeypatch.setitem(sys.modules, "wandb", None)
    monkeypatch.delitem(sys.modules, "assay.runs.observers.wandb", raising=False)
    with pytest.raises(BadInput, match="pip install wandb"):
        observers.logger("wandb")
