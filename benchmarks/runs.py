"""What the layer of shards costs: time against a bare stream, and memory for many rows.

    python benchmarks/runs.py [--rows 1000] [--milliseconds 20]

The model sleeps, so that a row takes the given time; a run (plan, shards, fsync, full verify, DONE) and a bare stream
of the same texts take turns. Then resident memory of runs with 1,000 and 100,000 rows of a model that answers at once.
"""

from __future__ import annotations

import argparse
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
from assay.runs.rows import Columns
from assay.runs.run import Request, run
from texts import sentences

Times = tuple[float, float]
WORDS = 20
TURNS = 3


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


def request(path: Path, model: Any, name: str) -> Request:
    columns = Columns("text")
    return Request(input=str(path), out=path.parent / name, model=model, methods=["leave_one_out"], columns=columns)


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

        run(request(path, assay.load(constant, labels=["no", "yes"]), "warm"))
        runs = [partial(run, request(path, model, str(turn))) for turn in range(TURNS)]
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
        run(request(path, assay.load(constant, labels=["no", "yes"]), "out"))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rows", type=int, default=1000)
    arguments.add_argument("--milliseconds", type=float, default=20.0)
    arguments.add_argument("--memory", type=int, default=0, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.memory:
        return memory(given.memory)
    overhead(given.rows, given.milliseconds)
    for rows in (1_000, 100_000):
        line = [sys.executable, __file__, "--memory", str(rows)]
        peak = subprocess.run(line, capture_output=True, text=True, check=True)
        print(f"peak memory of a run with {rows:>7,} rows: {int(peak.stdout):,} MB", flush=True)
    return None


if __name__ == "__main__":
    main()
