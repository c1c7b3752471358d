"""`assay mend`: files in, a model and a report out, one clear line where that cannot be."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import tiny

import assay
from assay import Sample
from assay.cli import main

TEXTS = tiny.CORPUS[:11]
FAST = ("--epochs", "1", "--beam", "1", "--margin", "0.99", "--no-baseline", "--quiet", "--json")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("tiny")
    for part in tiny.bert():
        part.save_pretrained(place)
    return str(place)


def written(path: Path, rows: Any, names: Any = ("text", "label")) -> str:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([names, *rows])
    return str(path)


@pytest.fixture
def data(tmp_path: Path) -> str:
    return written(tmp_path / "data.csv", [(text, f"LABEL_{i % 3}") for i, text in enumerate(TEXTS)])


def test_a_split_of_the_data_and_the_same_again(model: str, data: str, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    command = ("mend", "--model", model, "--data", data, "--out", str(out), "--limit", "4", *FAST)
    assert main(command) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["train"], len(told["gold"]), told["reduced_texts"]) == (9, 2, 4)
    assert told["accepted"]
    assert {line["measure"] for line in told["table"]} >= {"accuracy", "reduced length, words"}
    assert assay.load(str(out)).labels == ("LABEL_0", "LABEL_1", "LABEL_2")
    before = (out / "model.safetensors").stat().st_mtime_ns
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out) == told
    assert (out / "model.safetensors").stat().st_mtime_ns == before
    assert main((*command, "--seed", "1")) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "another mending" in said


def test_pairs_a_dev_file_and_the_table(model: str, tmp_path: Path, capsys: Any) -> None:
    rows = [(text, "a man sleeps", i % 3) for i, text in enumerate(TEXTS[:6])]
    names = ("premise", "hypothesis", "gold")
    train, dev = (written(tmp_path / f"{n}.csv", part, names) for n, part in (("t", rows[:4]), ("d", rows[4:])))
    command = ("mend", "--model", model, "--data", train, "--dev", dev, "--out", str(tmp_path / "out"))
    columns = ("--column", "premise", "--pair-column", "hypothesis", "--label-column", "gold")
    assert main((*command, *columns, *FAST[:-2], "--rank", "2")) == 0
    told = capsys.readouterr().out
    assert "reduced length" in told
    assert "labels were given as numbers" in told
    assert "report.html" in told.replace("\n", "")  # a long path may be broken between lines


def test_a_refusal_is_one_line_and_code_2(model: str, tmp_path: Path, capsys: Any) -> None:
    reader, texts = assay.load(model), list(TEXTS)
    found = [reader.labels[i] for i in reader.predict(texts).argmax(axis=1)]
    wrong = [reader.labels[reader.labels.index(label) - 1] for label in found]
    dev = written(tmp_path / "dev.csv", list(zip(texts, found, strict=True)))
    train = written(tmp_path / "train.csv", list(zip(texts, wrong, strict=True)))
    out = tmp_path / "out"
    more = ("--rate", "0.02", "--epochs", "6", "--weight", "0", "--beam", "1", "--no-baseline", "-q")
    assert main(("mend", "--model", model, "--data", train, "--dev", dev, "--out", str(out), *more)) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert "accuracy on dev fell from 1.0000" in told.err
    assert not (out / "config.json").exists()
    assert (out / "report.html").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("--label-column", "sense"), "no column 'sense'"),
        (("--column", "body"), "no column 'body'"),
        (("--schedule", "joined"), "joint"),
        (("--dev-share", "1.5"), "share above 0 and below 1"),
        (("--model", "nowhere/at/all"), "nowhere/at/all"),
        (("--beam", "0"), "--beam"),
    ],
)
def test_what_cannot_be_mended_is_said_in_one_line(
    change: Any, said: str, model: str, data: str, tmp_path: Path, capsys: Any
) -> None:
    out = tmp_path / "out"
    assert main(("mend", "--model", model, "--data", data, "--out", str(out), *FAST, *change)) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not out.exists()


def test_unknown_labels_and_missing_files(model: str, tmp_path: Path, capsys: Any) -> None:
    data = written(tmp_path / "data.csv", [("a film", "LABEL_0"), ("a plot", "LABEL_9")])
    same = ("mend", "--model", model, "--out", str(tmp_path / "out"), *FAST)
    assert main((*same, "--data", data, "--dev", data)) == 2
    assert "row 2 of train: no label is called 'LABEL_9'" in capsys.readouterr().err
    assert main((*same, "--data", str(tmp_path / "none.csv"))) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_labelled(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", [("a", "b", "c")], ("text", "second", "label"))
    single, pair = Sample.of(path, label="label"), Sample.of(path, text="text", pair="second", label="label")
    assert [(row.text, row.label) for row in single] == [("a", "c")]
    assert [(row.text, row.label) for row in pair] == [(("a", "b"), "c")]
