"""Commands that write directories, on tiny models: what each does in a place, and what it leaves there."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from unittest.mock import patch

import numpy as np
import tiny
from safetensors.numpy import load_file

import assay
from assay.cli import main
from assay.text import gradient_index
from assay.training.attentive import Attend
from assay.training.editor import EditorTraining, train_editor
from assay.training.epochs import checkpoints_in
from assay.training.fit import Plan
from assay.workflows import model_audit
from assay.workflows.mend_labels import mend_labels
from assay.workflows.model_audit.asking import QUICK
from influence_toys import fit, reviews

Left = dict[str, Any]
MODELS = """
import numpy as np
from assay import BlackBox
def chances(texts):
    values = np.array([0.1 + sum(len(word) % 3 - 1 for word in text.split()) for text in texts])
    return np.stack([1 / (1 + np.exp(values)), 1 / (1 + np.exp(-values))], axis=1)
judge = BlackBox(chances, labels=["bad", "good"], name="judge")
"""


@dataclass(frozen=True)
class Job:
    """What is run, and what of it must be the same in the end."""

    run: Callable[[Path], Any]
    left: Callable[[Path], Left]


@cache
def prepared() -> Path:
    """A bag of words that was trained, a language model to start from, and tables."""
    place = Path(mkdtemp(prefix="assay-killed-"))
    fit(list(reviews()), place / "bag", decay=0.01)
    model, tokenizer = tiny.causal_lm("llama")
    for part in (model, tokenizer):
        part.save_pretrained(place / "base")
    (place / "rows.csv").write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in reviews()))
    return place


@contextmanager
def small() -> Iterator[None]:
    """Sizes at which every job has several parts."""
    few = replace(QUICK, texts=40, probes=2, explained=10, reduced=20, attacked=10)
    with (
        patch.object(gradient_index, "PART", 16),
        patch("assay.workflows.indexing.PART", 16),
        patch("assay.training.editor.EVERY", 2),
        patch.object(model_audit, "QUICK", few),
    ):
        yield


def tensors(folder: Path, pattern: str) -> Left:
    """Every tensor by file and name."""
    found = sorted(folder.glob(pattern))
    return {f"{path.relative_to(folder)}:{name}": table for path in found for name, table in load_file(path).items()}


def same(one: Left, two: Left) -> bool:
    """Tables to five digits, as rows that are resumed are in other company than before; all else as it is."""
    if one.keys() != two.keys():
        return False
    return all(_close(one[name], two[name]) for name in one)


def _close(one: Any, two: Any) -> bool:
    return np.allclose(one, two, 1e-5, 1e-6) if isinstance(one, np.ndarray) else bool(one == two)


def files(folder: Path, *names: str) -> Left:
    return {name: (folder / name).read_bytes() for name in names}


def index(place: Path) -> None:
    rows, how = list(reviews()), {"layers": "head", "project": 32, "progress": False}
    assay.index(prepared() / "bag", rows, place / "index", **how)


def indexed(place: Path) -> Left:
    index = gradient_index.GradientIndex(place / "index")  # it looks whether all parts are there
    return {"texts": [one.strings for one in index.examples], **tensors(place / "index", "*.safetensors")}


def epochs(place: Path) -> None:
    """A training that goes on from its last epoch, and keeps the weights of all."""
    plan = Plan(epochs=3, rate=1e-2, optimiser="adam")
    how = Attend("average", hidden=4, size=4, plan=plan, device="cpu", every_epoch=True)
    rows = list(reviews())
    how.make([(text,) for text, _ in rows], [label for _, label in rows], 0, place / "trained")


def kept(place: Path) -> Left:
    return {"epochs": checkpoints_in(place / "trained"), **tensors(place / "trained", "**/*.safetensors")}


def editor(place: Path) -> None:
    texts = ["the plot was a very dull one", "this is a very good film indeed"] * 6
    how = EditorTraining(base=str(prepared() / "base"), steps=6, batch=4, rank=2, width=60)
    train_editor(texts, ["bad", "good"] * 6, place / "editor", how, progress=False)


def edited(place: Path) -> Left:
    assert sorted(path.name for path in place.iterdir() if not path.name.startswith(".")) == ["editor"]
    return {**files(place / "editor", "training.json"), **tensors(place / "editor", "*.safetensors")}


def labels(place: Path) -> None:
    """Both calls; a person fills in the sheet itself, as soon as it is there."""
    given: dict[str, Any] = {"out": place / "labels", "folds": 2, "seeds": 2}
    rows, bag = list(reviews()), prepared() / "bag"
    filled = place / "labels" / "relabel.csv"
    if not filled.exists():
        mend_labels(bag, rows, **given)
    if b"a person was here" not in filled.read_bytes():
        fill(filled)
    mend_labels(bag, rows, **given, corrections=filled)


def fill(sheet: Path) -> None:
    with sheet.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for number, row in enumerate(rows):
        row["corrected"] = row["suggested"] if number < 4 else ""
        row["note"] = "a person was here"
    beside = prepared() / f"filled-{os.getpid()}.csv"  # a person's program saves whole files too
    with beside.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    beside.replace(sheet)


def mended(place: Path) -> Left:
    found = json.loads((place / "labels" / "mend_labels.json").read_text())
    return {"result": found["result"], **files(place / "labels", "relabel.csv", "labels.html")}


def audit(place: Path) -> None:
    assay.audit(judge(), list(reviews()), quick=True, out=place / "audit", progress=False)


@cache
def judge() -> Any:
    space: dict[str, Any] = {}
    exec(MODELS, space)
    return space["judge"]


def audited(place: Path) -> Left:
    parts = [json.loads(path.read_text()) for path in sorted((place / "audit").glob("*.json"))]
    for part in parts:
        part.pop("seconds", None)
        for e in part.get("described", ()):
            e.get("about", {}).pop("cost", None)
    return {"parts": parts}


def describe(place: Path) -> None:
    wanted = ["-m", "sp_lime", "-p", "of=leave_one_out", "-p", "picks=2", "--out", str(place / "kept.json")]
    settings = ["--file", str(prepared() / "rows.csv"), "--column", "text", "--limit", "8", "--quiet"]
    with redirect_stdout(StringIO()):
        assert main(["describe", "--model", str(prepared() / "bag"), *settings, *wanted]) == 0


def described(place: Path) -> Left:
    e = json.loads((place / "kept.json").read_text())
    e["about"].pop("cost", None)
    return e


JOBS = {
    "index": Job(index, indexed),
    "checkpoints": Job(epochs, kept),
    "train-editor": Job(editor, edited),
    "mend-labels": Job(labels, mended),
    "audit": Job(audit, audited),
    "describe": Job(describe, described),
}
