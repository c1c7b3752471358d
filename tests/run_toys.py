"""Small datasets and models for runs, and a way to run the command in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import assay
from assay.request import Request, TextSource
from assay.runs.execution import Execution
from assay.runs.run import Summary, run

SOURCE = Path(assay.__file__).parents[1]
WORDS = "a good dull film such mess the acting superb script never loses its nerve great bad awful fine".split()
MODELS = '''
import os
import time
from zlib import crc32

import numpy as np


def sentiment(texts):
    """A bag of words whose weights are digests."""
    sums = np.array([sum((crc32(w.encode()) % 2000 - 1000) / 700 for w in text.split()) for text in texts])
    p = 1 / (1 + np.exp(-sums))
    return np.stack([1 - p, p], axis=1)


def slow(texts):
    time.sleep(0.0002 * len(texts))
    return sentiment(texts)


def meddled(texts):
    """At its eighth question, in the second shard, it does what meddle.py says; four come before the first row."""
    global asked
    asked += 1
    if asked == 8 and os.path.exists("meddle.py"):
        exec(open("meddle.py").read())
    return sentiment(texts)


asked = 0


def touchy(texts):
    if any("KILL" in text for text in texts):
        raise RuntimeError("no such word, please")
    return sentiment(texts)
'''


def sentences(n: int, seed: int = 0, most: int = 8) -> list[str]:
    rng = Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(1, most))) for _ in range(n)]


def dataset(place: Path, n: int = 60, name: str = "rows.csv") -> Path:
    """A csv file of texts, and beside it the module of models."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "run_models.py").write_text(MODELS)
    path = place / name
    path.write_text("id,text\n" + "".join(f"k{i},{text}\n" for i, text in enumerate(sentences(n))))
    return path


def request(
    path: Path, out: Path, *, columns: Mapping[str, str] | None = None, **changes: Any
) -> tuple[Request, Execution]:
    """Leave-one-out by the bag of words, unless said otherwise."""
    sys.path.insert(0, str(path.parent)) if str(path.parent) not in sys.path else None
    columns = {"column": "text", "id_column": "id"} if columns is None else columns
    how = {name: changes.pop(name) for name in Execution.__dataclass_fields__ if name in changes}
    usual = {"model": "run_models:sentiment", "methods": ["leave_one_out"]}
    asked = Request(texts=TextSource(file=path, **columns), **(usual | changes))
    return asked, Execution(out=out, **({"shard_size": 10, "threads": 1} | how))


def ran(path: Path, out: Path, **changes: Any) -> Summary:
    return run(*request(path, out, **changes))


def shards(out: Path) -> dict[str, bytes]:
    """All shards of a run by name, which tells their bytes."""
    return {p.name: p.read_bytes() for p in sorted((out / "shards").glob("*.parquet"))}


def notes(out: Path, what: str) -> list[dict[str, Any]]:
    """Lines of the journal."""
    lines = map(json.loads, (out / "journal.jsonl").read_text().splitlines())
    return [line for line in lines if line["what"] == what]


def command(*arguments: str | Path, place: Path, **more: Any) -> subprocess.Popen[bytes]:
    """`assay ...` in a process group of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
    line = [sys.executable, "-m", "assay.cli", *map(str, arguments)]
    return subprocess.Popen(
        line, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **more
    )


def await_shard(process: subprocess.Popen[bytes], out: Path, seconds: float = 60) -> None:
    """Wait until the run has a finished shard; not for one of a process that has ended."""
    deadline = time.time() + seconds
    while not shards(out) and process.poll() is None and time.time() < deadline:
        time.sleep(0.02)
