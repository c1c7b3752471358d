"""Kill -9 at random instants: after resuming, every row once, the same bytes, at most one shard per worker redone.

    python benchmarks/kills.py [--kills 100] [--rows 10000] [--workers 2] [--seed 0] [--place DIR]

Runs of a fast model are killed again and again until they are done, and then anew with the next seed, half of the
kills inline and half with Ray. A kill hits the driver, the whole process group, or (Ray) one worker. Printed are the
kills by kind, and whether each finished run is byte by byte the run that nothing happened to.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

MODEL = """
import time
from zlib import crc32

import numpy as np


def fast(texts):
    time.sleep(0.00005 * len(texts))
    sums = np.array([sum((crc32(w.encode()) % 2000 - 1000) / 700 for w in text.split()) for text in texts])
    p = 1 / (1 + np.exp(-sums))
    return np.stack([1 - p, p], axis=1)
"""
WORDS = "a good dull film such mess the acting superb script never loses its nerve great bad awful fine".split()
SHARD = 100


def prepare(place: Path, rows: int) -> None:
    rng = Random(1)
    (place / "kill_models.py").write_text(MODEL)
    lines = (f"k{i},{' '.join(rng.choices(WORDS, k=rng.randint(1, 12)))}\n" for i in range(rows))
    (place / "rows.csv").write_text("id,text\n" + "".join(lines))


def start(place: Path, out: str, executor: str, workers: int) -> subprocess.Popen[bytes]:
    settings = ["--column", "text", "--id-column", "id", "-m", "leave_one_out", "--model", "kill_models:fast"]
    line = [sys.executable, "-m", "assay.cli", "run", "rows.csv", "--out", out, *settings, "--threads", "1", "-q"]
    line += ["--shard-size", str(SHARD), "--executor", executor, "--workers", str(workers)]
    environment, errors = {**os.environ, "PYTHONPATH": str(place)}, (place / "stderr.txt").open("ab")
    return subprocess.Popen(
        line, cwd=place, env=environment, start_new_session=True, stdout=subprocess.DEVNULL, stderr=errors
    )


def workers_of(pid: int) -> list[int]:
    """The Ray workers among the processes of a session."""
    said = subprocess.run(["ps", "-e", "-o", "pid=,sid=,args="], capture_output=True, text=True).stdout
    found = (line.split(None, 2) for line in said.splitlines())
    return [int(p) for p, session, name in found if int(session) == pid and name.startswith("ray::Actor")]


def kill(process: subprocess.Popen[bytes], kind: str, rng: Random) -> bool:
    """Whether the blow fell on something."""
    if kind == "worker":
        victims = workers_of(process.pid)
        if victims:
            os.kill(rng.choice(victims), signal.SIGKILL)
        return bool(victims)
    if kind == "driver":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return True


def wait(out: Path, rng: Random, took: float) -> None:
    """Until a random instant: in one of three cases anywhere, else while shards are being made."""
    if rng.random() < 1 / 3:
        time.sleep(rng.uniform(0, took))
        return
    there, more = shards_in(out), rng.randint(1, 30)
    deadline = time.time() + took
    while shards_in(out) < there + more and time.time() < deadline:
        time.sleep(0.005)
    time.sleep(rng.uniform(0, 0.2))


def shards_in(out: Path) -> int:
    return len(list((out / "shards").glob("*.parquet")))


def sweep(pid: int) -> None:
    """What a killed driver left of its own cluster: the processes of its session."""
    said = subprocess.run(["ps", "-e", "-o", "pid=,sid="], capture_output=True, text=True).stdout
    for line in said.splitlines():
        one, session = map(int, line.split())
        if session == pid:
            try:
                os.kill(one, signal.SIGKILL)
            except ProcessLookupError:
                continue


def bytes_of(out: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in (out / "shards").iterdir() if p.suffix == ".parquet"}


def handed_out(out: Path) -> int:
    lines = (json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines() if line.strip())
    return sum(line["what"] == "handed out" for line in lines)


def one_run(place: Path, executor: str, workers: int, left: int, took: float, rng: Random) -> Counter[str]:
    """Kill a run until it is done, or until there are no kills left; then let it end."""
    out, kills = f"{executor}-{rng.randrange(10**6)}", Counter[str]()
    kinds = ["driver", "group", "worker"] if executor == "ray" else ["driver", "group"]
    while not (place / out / "DONE").exists():
        process = start(place, out, executor, workers)
        if kills.total() < left:
            kind = rng.choice(kinds)
            wait(place / out, rng, took)
            if process.poll() is None and kill(process, kind, rng):
                kills[kind] += 1
        process.wait(timeout=600)
        sweep(process.pid)
    whole, found = bytes_of(place / "whole"), bytes_of(place / out)
    redone = handed_out(place / out) - len(whole)
    allowed = (kills["driver"] + kills["group"]) * (workers if executor == "ray" else 1)
    same = whole == found
    print(f"{executor}: {dict(kills)}, same bytes {same}, shards redone {redone} of {allowed} allowed", flush=True)
    if not same or redone > allowed:
        sys.exit(1)
    shutil.rmtree(place / out)
    return kills


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("kills", 100), ("rows", 10_000), ("workers", 2), ("seed", 0)):
        arguments.add_argument(f"--{name}", type=int, default=value)
    arguments.add_argument("--executors", default="inline,ray")
    given = arguments.parse_args()
    place, rng, total = Path(tempfile.mkdtemp(prefix="kills-")), Random(given.seed), Counter[str]()
    prepare(place, given.rows)
    start(place, "whole", "inline", 1).wait()
    executors = given.executors.split(",")
    for executor in executors:
        began = time.time()
        start(place, f"timed-{executor}", executor, given.workers).wait()
        took, wanted, done = time.time() - began, given.kills // len(executors), Counter[str]()
        print(f"{executor}: uninterrupted {took:.0f} s", flush=True)
        while done.total() < wanted:
            done += one_run(place, executor, given.workers, wanted - done.total(), took, rng)
        total += Counter({f"{executor} {kind}": n for kind, n in done.items()})
    print(f"{total.total()} kills: {dict(total)}; every run ended with the bytes of the uninterrupted one")
    shutil.rmtree(place)


if __name__ == "__main__":
    main()
