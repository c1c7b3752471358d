"""A data directory of the studies of attention, and how they are run on it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from assay_studies import Findings, Request, find_study

WORDS = "the a of film story scene with and very quite some plot actor".split()
SIZES = {"epochs": 2, "steps": 6, "permutations": 8, "adversaries": 2, "audited": 24, "glove": 0}
SECOND = {"epochs": 2, "adversary_epochs": 2, "seeds": 2, "lambdas": 3, "glove": 0, "sought": 12}


def sentences(rng: Any, count: int) -> list[tuple[str, int]]:
    rows = []
    for i in range(count):
        words = list(rng.choice(WORDS, int(rng.integers(7, 12))))
        words[int(rng.integers(len(words)))] = ("good", "bad")[i % 2] if rng.random() < 0.9 else "odd"
        rows.append((" ".join(words), 1 - i % 2))
    return rows


def write(place: Path) -> Path:
    """A data directory with a corpus of SST's shape."""
    rng = np.random.default_rng(1)
    (place / "sst").mkdir()
    with (place / "sst" / "jw_sst_dataset.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label", "exp_split"])
        for part, count in (("train", 160), ("dev", 40), ("test", 60)):
            writer.writerows([text, label, part] for text, label in sentences(rng, count))
    return place


def run(name: str, data: Path, out: Path, sizes: dict[str, int], **more: Any) -> Findings:
    heard: list[str] = more.pop("heard", [])
    return find_study(name)(Request(data=data, out=out, quick=True, sizes=sizes, say=heard.append, **more))
