"""What the layer of shards costs: time against a bare stream, and memory for many rows; and what executors do.

    python benchmarks/runs.py [--rows 1000] [--milliseconds 20]
    python benchmarks/runs.py --executors [--rows 1000] [--shard-size N] [--model sst2] [--method leave_one_out]

The model sleeps, so that a row takes the given time; a run (plan, shards, fsync, full verify, DONE) and a bare stream
of the same texts take turns. Then resident memory of runs with 1,000 and 100,000 rows of a model that answers at once.
With --executors, `assay run` over one file: inline, with one Ray worker and with two, in turns, each with all cores.
Rows a second are counted from the moment when as many shards are kept as there are workers to the last one, so that no
start of Ray or of a model is in them, and no work that others did beside the first; the seconds in all are those of the
command.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import assay
from assay.request import Request, TextSource
from assay.runs import journal
from assay.runs.execution import Execution
from assay.runs.run import run
from texts import sentences

Times = tuple[float, float]
WORDS = 20
TURNS = 3
RAY = ("--executor", "ray", "--workers")


def sleeping(milliseconds: float) -> Any:
    """A model that takes so long for each text and its leave-one-out versions together."""

    def answer(texts: list[str]) -> np.ndarray[Any, Any]:
        time.sleep(milliseconds / 1000 * len(texts) / (WORDS + 1))
        return constant(texts)

    return answer


def constant(texts: list[str]) -> np.ndarray[Any, Any]:
    return np.full((len(texts), 2), 0.5)


@contextmanager
def written(rows: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "rows.txt"
        path.write_text("\n".join(sentences(rows, WORDS, WORDS)) + "\n", encoding="utf-8")
        yield path


def request(path: Path, model: Any, name: str) -> tuple[Request, Execution]:
    asked = Request(model=model, texts=TextSource(file=path, column="text"), methods=["leave_one_out"])
    return asked, Execution(out=path.parent / name)


def timed(work: Callable[[], object]) -> Times:
    began, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - used


def overhead(rows: int, milliseconds: float) -> None:
    with written(rows) as path:
        texts = path.read_text(encoding="utf-8").splitlines()
        model = assay.load(sleeping(milliseconds), labels=["no", "yes"])

        def stream() -> None:
            for outcome in assay.stream(model, texts, "leave_one_out"):
                outcome.get()

        run(*request(path, assay.load(constant, labels=["no", "yes"]), "warm"))
        runs = [partial(run, *request(path, model, str(turn))) for turn in range(TURNS)]
        told(rows, milliseconds, [(timed(stream), timed(one)) for one in runs])


def told(rows: int, milliseconds: float, pairs: list[tuple[Times, Times]]) -> None:
    ratios = [ours[0] / bare[0] - 1 for bare, ours in pairs]
    used = median((ours[1] - bare[1]) / rows * 1e6 for bare, ours in pairs)
    spread = f"({min(ratios):+.1%} to {max(ratios):+.1%})"
    print(f"{rows} rows of {milliseconds:g} ms, {len(pairs)} turns, the bare stream takes {pairs[0][0][0]:.1f} s")
    print(f"the layer of shards adds {median(ratios):+.1%} of time {spread}, {used:.0f} microseconds of CPU a row")


def memory(rows: int) -> None:
    """Print the peak of resident memory of a run, in MB."""
    with written(rows) as path:
        run(*request(path, assay.load(constant, labels=["no", "yes"]), "out"))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def executors(rows: int, shard: int, model: str, method: str) -> None:
    """Rows a second of each executor, and against inline, in one run."""
    cores = len(os.sched_getaffinity(0))
    ways = {"inline": (cores, ()), "ray, 1 worker": (cores, (*RAY, "1")), "ray, 2 workers": (cores // 2, (*RAY, "2"))}
    found: dict[str, list[Times]] = {name: [] for name in ways}
    with written(rows) as path:
        line = ["run", str(path), "--model", model, "-m", method, "--shard-size", str(shard), "-q"]
        for turn in range(TURNS):
            for name, (threads, way) in ways.items():
                out = path.parent / f"{turn} {name}"
                workers = int(way[-1]) if way else 1
                found[name].append(commanded([*line, *way, "--threads", str(max(1, threads))], out, workers))
    print(f"{rows} rows by {method} on {model}, shards of {shard}, {cores} cores, medians of {TURNS} turns")
    for name, times in found.items():
        ratios = [own[1] / inline[1] for own, inline in zip(times, found["inline"], strict=True)]
        took, rate = (median(values) for values in zip(*times, strict=True))
        spread = f"({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"{name:14} {rate:8.2f} rows a second, {median(ratios):.2f}x inline {spread}, {took:.1f} s in all")


def commanded(line: list[str], out: Path, workers: int) -> Times:
    """Seconds in all, and rows a second once every worker has had its first shard kept."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "assay.cli", *line, "--out", str(out)], check=True)
    took = time.perf_counter() - began
    kept = [note for note in journal.entries(out) if note["what"] == "kept"]
    return took, sum(note["rows"] for note in kept[workers:]) / (kept[-1]["at"] - kept[workers - 1]["at"])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rows", type=int, default=1000)
    arguments.add_argument("--milliseconds", type=float, default=20.0)
    arguments.add_argument("--executors", action="store_true", help="inline beside Ray instead")
    arguments.add_argument(
        "--shard-size", type=int, default=0, help="of --executors; a twentieth of the rows by default"
    )
    arguments.add_argument("--model", default="sst2", help="of --executors")
    arguments.add_argument("--method", default="leave_one_out", help="of --executors")
    arguments.add_argument("--memory", type=int, default=0, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.memory:
        return memory(given.memory)
    if given.executors:
        return executors(given.rows, given.shard_size or max(1, given.rows // 20), given.model, given.method)
    overhead(given.rows, given.milliseconds)
    for rows in (1_000, 100_000):
        line = [sys.executable, __file__, "--memory", str(rows)]
        peak = subprocess.run(line, capture_output=True, text=True, check=True)
        print(f"peak memory of a run with {rows:>7,} rows: {int(peak.stdout):,} MB", flush=True)
    return None


if __name__ == "__main__":
    main()
