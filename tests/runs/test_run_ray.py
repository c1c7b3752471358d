"""Ray: the same bytes as inline with one, two and four workers, by a real transformers model; workers may die."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tiny

import assay
from assay.text import gradient_index
from run_toys import SOURCE, await_shard, command, dataset, notes, ran, sentences, shards

ray = pytest.importorskip("ray")

from assay.errors import BadInput  # noqa: E402

METHODS = ["leave_one_out", "integrated_gradients", "random"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """One cluster for all tests of this module: starting one takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(SOURCE))
        ray.init(num_cpus=4, include_dashboard=False, object_store_memory=80 * 1024**2, log_to_driver=False)
        yield
        ray.shutdown()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT on disk."""
    place = tmp_path_factory.mktemp("model")
    model, tokenizer = tiny.bert()
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_two_workers_and_inline_give_the_same_bytes(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    texts = [*tiny.CORPUS, *sentences(50, seed=3, most=20), ""]
    path.write_text("".join(json.dumps(text, ensure_ascii=False) + "\n" for text in texts))
    changes = {"model": str(saved), "methods": METHODS, "checks": ["sufficiency"], "columns": {"column": "text"}}
    ran(path, tmp_path / "inline", shard_size=16, **changes)
    whole = shards(tmp_path / "inline")
    assert len(whole) == 6
    ran(path, tmp_path / "ray", shard_size=16, executor="ray", workers=2, **changes)
    assert shards(tmp_path / "ray") == whole


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_an_index_goes_on_by_two_workers_with_the_same_bytes(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradient_index, "PART", 8)
    monkeypatch.setattr("assay.workflows.indexing.PART", 8)
    rows = [(text, f"LABEL_{i % 3}") for i, text in enumerate(tiny.CORPUS)]
    settings: Any = {"layers": "last:1", "project": 32, "threads": 1, "progress": False}
    place = tmp_path / "index"
    assay.index(str(saved), rows, place, **settings)
    whole = {path.name: path.read_bytes() for path in place.iterdir()}
    parts = [gradient_index.part_path(place, i) for i in range(4)]
    for path in parts[1:]:
        path.unlink()
        path.with_suffix(".jsonl").unlink()
    kept = parts[0].stat().st_mtime_ns
    assay.index(str(saved), rows, place, executor="ray", workers=2, **settings)
    assert {path.name: path.read_bytes() for path in place.iterdir()} == whole
    assert parts[0].stat().st_mtime_ns == kept


@pytest.mark.slow
def test_a_killed_worker_loses_no_row(assay_: Callable[..., Any], tmp_path: Path) -> None:
    dataset(tmp_path, 400)
    settings = ["--column", "text", "-m", "leave_one_out", "--model", "run_models:slow", "--threads", "1"]
    line = ["run", "rows.csv", "--shard-size", "20", *settings]
    assert assay_(*line, "--out", "inline", "-q")[0] == 0
    process = command(*line, "--out", "out", "--executor", "ray", "--workers", "2", place=tmp_path)
    await_shard(process, tmp_path / "out", 120)
    victims = [int(p.name) for p in Path("/proc").iterdir() if p.name.isdecimal() and _is_worker(p, process.pid)]
    assert victims
    os.kill(victims[0], signal.SIGKILL)
    assert process.wait(timeout=180) == 0
    assert shards(tmp_path / "out") == shards(tmp_path / "inline")
    assert len(notes(tmp_path / "out", "handed out")) == 20


@pytest.mark.slow
def test_a_cluster_of_its_own_is_closed_to_the_network_and_a_polite_kill_gives_75(tmp_path: Path) -> None:
    dataset(tmp_path, 2000)
    settings = ["--column", "text", "-m", "leave_one_out", "--model", "run_models:slow", "--threads", "1"]
    line = ["run", "rows.csv", "--shard-size", "20", *settings, "--out", "out", "--executor", "ray", "--workers", "1"]
    process = command(*line, place=tmp_path)
    await_shard(process, tmp_path / "out", 120)
    open_to_others = _listening(process.pid)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 75, said
    assert b"To go on: assay run rows.csv" in said.splitlines()[-1]
    assert open_to_others == set()


_LOOPBACK = ("0100007F:", "00000000000000000000000001000000:", "0000000000000000FFFF00000100007F:")


def _listening(session: int) -> set[str]:
    """Where processes of the session listen, other than on the loopback address."""
    held = set()
    for place in Path("/proc").iterdir():
        try:
            if place.name.isdecimal() and os.getsid(int(place.name)) == session:
                held |= {os.readlink(link) for link in (place / "fd").iterdir()}
        except OSError:
            continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            local, state, inode = line.split()[1], line.split()[3], line.split()[9]
            here = local.startswith(
                ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")
            )
            if state == "0A" and f"socket:[{inode}]" in held and not here:
                found.add(local)
    return found


def _is_worker(place: Path, session: int) -> bool:
    try:
        return b"ray::Actor" in (place / "cmdline").read_bytes() and os.getsid(int(place.name)) == session
    except OSError:
        return False


def test_without_ray_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadInput, match=r"pip install 'assay\[ray\]'"):
        ran(dataset(tmp_path), tmp_path / "out", executor="ray")


def test_a_shard_goes_to_a_worker_only_when_the_one_before_is_kept() -> None:
    """Told without Ray: two workers never have more than two shards that are not kept."""
    from assay.runs.executors.ray import _spread

    class Reference:
        def __init__(self, shard: Any) -> None:
            self.shard = shard

    class Actor:
        def __init__(self) -> None:
            self.work = self

        def remote(self, shard: Any) -> Reference:
            return Reference(shard)

    class Fake:
        exceptions = ray.exceptions

        @staticmethod
        def wait(references: list[Any], num_returns: int) -> Any:
            return [references[-1]], references[:-1]

        @staticmethod
        def get(reference: Any) -> Any:
            return reference.shard

    taken: list[int] = []
    todo = (taken.append(i) or i for i in range(7))  # type: ignore[func-returns-value]
    kept = []
    for finished in _spread(Fake, [Actor(), Actor()], todo):  # type: ignore[arg-type]
        assert len(taken) - len(kept) <= 2
        kept.append(finished)
    assert sorted(kept) == list(range(7))


def test_threads_are_not_left_changed(tmp_path: Path) -> None:
    import torch

    before = torch.get_num_threads()
    ran(dataset(tmp_path), tmp_path / "out", threads=before + 1)
    assert torch.get_num_threads() == before
