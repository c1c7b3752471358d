"""Flipped bits in the shards of a run: every reader says so, none gives other data.

    python benchmarks/flips.py [--flips 300] [--seed 0]

A run of 120 rows in 6 shards is done, then for each trial one bit of one shard is flipped, anywhere in the file, every
reader is asked, and the bit is put back. Prints one line of JSON: for each reader how often it said so, how often it
gave what it had given before the damage, and how often other data. The exit code is 1 where one did not say so.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import assay
from assay import cli
from assay.errors import BadFile
from assay.runs.query import query
from assay.runs.report import report
from assay.runs.status import status
from assay.views.report import page

MODEL = """
import numpy as np


def bag(texts):
    p = np.array([sum(map(ord, text)) % 97 / 97 for text in texts])
    return np.stack([1 - p, p], axis=1)
"""
WORDS = "a good dull film such mess the acting superb script never loses its nerve great bad awful fine".split()
ROWS, SHARDS = 120, 6


def sql(place: Path, asked: str) -> Any:
    return query(assay.open(place), asked).to_pylist()


READERS: dict[str, Callable[[Path], Any]] = {
    "to_arrow": lambda place: assay.open(place).to_arrow().to_pylist(),
    "to_pandas": lambda place: assay.open(place).to_pandas().to_json(),
    "explanations": lambda place: [e.to_dict() for e in assay.open(place).explanations()],
    "verdicts": lambda place: [v.to_dict() for v in assay.open(place).verdicts()],
    "query": lambda place: sql(place, "select count(*), sum(probability) from explanations"),
    "query words": lambda place: sql(place, "select word, sum(score) from words group by 1 order by 1"),
    "query one column": lambda place: sql(place, "select count(id) from explanations"),
    "report": lambda place: page(report(assay.open(place))),
    "status": lambda place: status(place).lines(),
}


def asked(reader: Callable[[Path], Any], place: Path, file: str) -> Any:
    """What the reader gives; True where it says that this file is damaged."""
    try:
        given = reader(place)
    except BadFile as error:
        return file in str(error) and "run the same command again" in str(error)
    said = isinstance(given, list) and f"{place}: damaged" in given
    return True if said and any(str(line).startswith(f"damaged: {file}") for line in given) else given


def flipped(path: Path, rng: Random) -> bytes:
    """The file with one other bit; its bytes before."""
    data = path.read_bytes()
    harmed = bytearray(data)
    harmed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(bytes(harmed))
    return data


def trials(place: Path, flips: int, rng: Random) -> dict[str, Counter[str]]:
    whole = {name: reader(place) for name, reader in READERS.items()}
    found: dict[str, Counter[str]] = defaultdict(Counter)
    files = sorted((place / "shards").iterdir())
    for _ in range(flips):
        path = rng.choice(files)
        data = flipped(path, rng)
        for name, reader in READERS.items():
            given = asked(reader, place, path.name)
            found[name]["said so" if given is True else "as before" if given == whole[name] else "other data"] += 1
        path.write_bytes(data)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--flips", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        Path("flip_models.py").write_text(MODEL)
        Path("rows.csv").write_text("text\n" + "".join(f"{' '.join(rng.choices(WORDS, k=7))}\n" for _ in range(ROWS)))
        settings = ["--column", "text", "-m", "leave_one_out", "-c", "sufficiency", "--model", "flip_models:bag"]
        line = [
            "run",
            "rows.csv",
            "--out",
            "out",
            "--shard-size",
            str(ROWS // SHARDS),
            *settings,
            "--threads",
            "1",
            "-q",
        ]
        if code := cli.main(line):
            return code
        found = trials(Path("out"), options.flips, rng)
    print(json.dumps(found))
    return 0 if all(counts == {"said so": options.flips} for counts in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
