"""A data directory of the studies of attention, how they are run on it, and what is asked of both."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from found_tables import table

from assay_studies import Findings, Request, find_study
from assay_studies.data.jain_wallace import read
from assay_studies.tables import Table

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


def require_counts(findings: Findings, out: Path, data: Path) -> None:
    """The table of datasets, its published numbers, its files."""
    split = read("sst", data)
    line = table(findings, "datasets").lines[0]
    vocabulary, length, *sizes = line.cells
    known = {word for example in split.train for word in example.strings[0].split()}
    assert vocabulary.counted == str(len(known) + 4)  # the padding, the unknown word and two edges
    lengths = [len(example.strings[0].split()) for example in split.train]
    assert length.ours is not None
    assert length.ours.value == pytest.approx(np.mean(lengths))
    assert [cell.counted for cell in sizes] == ["80 / 80", "20 / 20", "30 / 30"]
    assert [cell.published for cell in line.cells] == ["16175", "19", "3034 / 3321", "", "863 / 862"]
    assert "80 / 80" in (out / "report.md").read_text()
    assert "datasets,SST,training texts,80 / 80,,,,3034 / 3321" in (out / "tables" / "datasets.csv").read_text()
    assert not (out / "figures" / "datasets.png").exists()
    again = Table.from_dict(json.loads(json.dumps(table(findings, "datasets").to_dict())))
    assert again == table(findings, "datasets")


def require_verdicts(findings: Findings) -> None:
    assert findings.claims
    assert {claim.verdict for claim in findings.claims} <= {"holds", "does not hold", "open", "not learned"}


def require_the_same_by_workers(
    name: str, data: Path, out: Path, sizes: dict[str, int], alone: tuple[Findings, Path]
) -> None:
    """That two workers train the same models, leave nothing for the parts to make, and find the same numbers."""
    heard: list[str] = []
    shared = run(name, data, out, sizes, workers=2, heard=heard)
    assert not any("training" in line or "auditing" in line or "_" in line.split(":")[1] for line in heard)
    by_one, place = alone
    trained = [sorted(str(p.relative_to(at)) for p in at.rglob("training.json")) for at in (out, place)]
    assert trained[0] == trained[1] != []
    for one, other in zip(shared.tables, by_one.tables, strict=True):
        assert [line.label for line in one.lines] == [line.label for line in other.lines]
        mine, theirs = ([c.ours.value for line in t.lines for c in line.cells if c.ours] for t in (one, other))
        assert mine == pytest.approx(theirs, abs=1e-4), one.name
