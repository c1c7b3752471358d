"""A data directory of the study of pathologies, with texts of our own; and the numbers of its tables."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import study_data

from assay_studies.findings import Part
from assay_studies.tables import Table

NAMES = ("entailment", "neutral", "contradiction")
PLACES = ("river", "house", "park", "street", "garden", "beach")


def sentences(seed: int, count: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.permutation(study_data.SENTENCES[i % 6].split())) for i in range(count)]


def pairs(seed: int, count: int) -> Iterator[tuple[str, str, str]]:
    rng = np.random.default_rng(seed)
    for i in range(count):
        premise, hypothesis, _ = study_data.PAIRS[i % 3]
        place = PLACES[int(rng.integers(6))]
        yield f"{premise} {place} {seed} {i // 3}", f"{hypothesis} {place}", NAMES[i % 3]


def asked(count: int, start: int) -> dict[str, Any]:
    paragraphs = []
    for i in range(start, start + count):
        place = PLACES[i % 6]
        context = f"A man is eating. Two dogs play near the {place} number {i}, and nobody sleeps!"
        found = [{"text": text, "answer_start": context.index(text)} for text in (place, f"the {place}")]
        qas = [{"id": str(i), "question": "where did the two dogs play ?", "answers": found}]
        paragraphs.append({"context": context, "qas": qas})
    return {"version": "1.1", "data": [{"title": "dogs", "paragraphs": paragraphs}]}


def write(place: Path) -> Path:
    """A data directory of the study."""
    for name in ("sst2", "sst/trees", "esnli", "snli_train_subset", "squad_v1.1"):
        (place / name).mkdir(parents=True)
    for split, seed, count in (("dev", 1, 12), ("train", 2, 30)):
        rows = "".join(f"{s} \t{study_data.label(s)}\n" for s in sentences(seed, count))
        (place / "sst2" / f"{split}.tsv").write_text(f"sentence\tlabel\n{rows}", encoding="utf-8")
    trees = "\n".join(map(study_data.tree, sentences(3, 24)))
    (place / "sst/trees/train.txt").write_text(trees, encoding="utf-8")
    for split, seed, count in (("dev", 4, 15), ("test", 5, 24)):
        for name, column in zip(("s1", "s2", "labels"), zip(*pairs(seed, count), strict=True), strict=True):
            (place / "esnli" / f"{name}.{split}").write_text("".join(f"{x}\n" for x in column), encoding="utf-8")
    learned = "".join(f"{label}\tmade\t{one}\t{two}\n" for one, two, label in pairs(5, 24))
    (place / "snli_train_subset/snli.tsv.xz").write_bytes(lzma.compress(learned.encode()))
    for split, start, count in (("dev", 0, 8), ("train", 20, 40)):
        packed = lzma.compress(json.dumps(asked(count, start)).encode())
        (place / "squad_v1.1" / f"{split}.json.xz").write_bytes(packed)
    return place


def values(of: Table) -> list[float]:
    return [cell.ours.value if cell.ours else -1.0 for line in of.lines for cell in line.cells]


def cells(part: Part, name: str) -> dict[str, list[float | None]]:
    table = next(table for table in part.tables if table.name == name)
    return {line.label: [cell.ours and cell.ours.value for cell in line.cells] for line in table.lines}
