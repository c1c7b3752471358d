"""Two runs started together on one directory: one finishes, the other is refused, nothing is lost.

    python benchmarks/together.py [--times 50] [--seed 0]

The two are forked from a process that has imported all there is to import, so they reach the directory within
milliseconds of each other; the second starts up to 200 ms after the first, so that it comes upon every step between
the lock, the plan and the first shards. In half of the races the directory is there before, and is empty. Prints one
line of JSON with what came of it; the exit code is 1 where anything was lost.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

from assay import cli
from assay.runs import open_run, query, report, run, store  # noqa: F401 - so that no race waits for an import
from assay.runs.executors import inline  # noqa: F401
from assay.runs.status import status

MODEL = """
import time

import numpy as np

time.sleep(0.1)


def slow(texts):
    time.sleep(0.06)
    p = np.array([len(text) % 7 / 7 for text in texts])
    return np.stack([1 - p, p], axis=1)
"""
ROWS = 40
REFUSED = ("is in use by", "was taken by another run at the same moment")


def started(line: Sequence[str], said: Path, wait: float) -> int:
    """A process that runs the command after a while; its number."""
    pid = os.fork()
    if pid:
        return pid
    handle = os.open(said, os.O_CREAT | os.O_WRONLY, 0o644)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    time.sleep(wait)
    code = 1
    try:
        sys.argv = ["assay", *line]
        code = cli.main(line)
    finally:
        sys.stderr.flush()
        os._exit(code)


def race(place: Path, out: str, second: float) -> tuple[list[int], list[str]]:
    """The exit codes of the two, and what they said."""
    settings = ["--column", "text", "-m", "random", "--model", "race_models:slow", "--threads", "1"]
    line = ["run", "rows.csv", "--out", out, "--shard-size", "10", *settings, "-q"]
    said = [place / f"{out}.{i}.txt" for i in range(2)]
    racers = [started(line, path, wait) for path, wait in zip(said, (0.0, second), strict=True)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in racers]
    return codes, [path.read_text() for path in said]


def came_of(place: Path, out: str, codes: list[int], said: list[str]) -> str:
    """`well`, or what went wrong."""
    if sorted(codes) != [0, 2]:
        return f"exit codes {codes}: {said}"
    refused = said[codes.index(2)]
    if refused.count("\n") != 1 or not any(one in refused for one in REFUSED):
        return f"refused otherwise: {refused}"
    state = status(place / out)
    rows = open_run(place / out).to_arrow(["row"]).column("row").to_pylist()
    if state.state != "done" or rows != list(range(ROWS)):
        return f"lost: {state.state}, {len(rows)} rows"
    left = {path.name for path in (place / out).iterdir()}
    return "well" if not left & {"lock"} and not any((place / out / "aside").iterdir()) else f"left behind: {left}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, found = Random(options.seed), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        os.chdir(place)
        (place / "race_models.py").write_text(MODEL)
        (place / "rows.csv").write_text("text\n" + "".join(f"film {'x' * i}\n" for i in range(ROWS)))
        for i in range(options.times):
            if i % 2:
                (place / f"out{i}").mkdir()
            outcome = race(place, f"out{i}", rng.random() * rng.choice([0.0, 0.01, 0.2]))
            found[came_of(place, f"out{i}", *outcome)] += 1
    print(json.dumps(found))
    return 0 if found == {"well": options.times} else 1


if __name__ == "__main__":
    sys.exit(main())
