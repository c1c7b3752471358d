"""`assay people`: from a file of texts to tasks, and from a file of answers to a table."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from assay import cli

MODELS = """
import numpy as np
from assay import BlackBox

WEIGHTS = {"superb": 1.8, "good": 1.0, "funny": 1.5, "mess": -3.0, "dull": -1.5, "bad": -1.0}

def chances(texts):
    values = np.array([sum(WEIGHTS.get(word, 0.0) for word in text.split()) for text in texts]) - 0.1
    positive = 1 / (1 + np.exp(-values))
    return np.stack([1 - positive, positive], axis=1)

sentiment = BlackBox(chances, labels=["negative", "positive"], name="lexicon")
pairs = BlackBox(lambda rows: chances([row[1] for row in rows]), labels=["no", "yes"], name="pairs")
pairs.fields = ("premise", "hypothesis")
"""
WORDS = ("superb", "good", "funny", "mess", "dull", "bad")
LOCAL = ("--model", "people_models:sentiment", "-p", "importance=leave_one_out")


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "people_models.py").write_text(MODELS)
    rows = [(f"the {w} story number {i} of this film", int(WORDS.index(w) < 3)) for i, w in enumerate(WORDS * 3)]
    wrong = [("a superb thing they say here", 0), rows[0]]
    with (tmp_path / "texts.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerows([("text", "label", "second"), *((t, y, f"{t} again") for t, y in [*rows, *wrong])])
    return tmp_path


@pytest.fixture
def people(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setattr(os, "environ", os.environ.copy())

    def command(*arguments: str) -> Said:
        code = cli.main(["people", *arguments])
        return Said(code, *capsys.readouterr())

    return command


def export(people: Run, *more: str) -> Said:
    return people("export", "--file", "texts.csv", "--column", "text", "--out", "study", *LOCAL, *more)


def keys(place: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (place / "study/private/key.jsonl").read_text("utf-8").splitlines()]


def test_texts_predicted_right_become_tasks_and_answers_a_table(place: Path, people: Run) -> None:
    said = export(people, "--label-column", "label", "--examples", "12")
    assert said.code == 0
    assert "18 of 20 texts are usable" in said.out
    found = keys(place)
    examples = {key["example"]: key["label"] for key in found}
    assert Counter(examples.values()) == {"negative": 6, "positive": 6}
    assert 19 not in examples  # predicted wrong
    key = {one["item"]: one for one in found}
    texts = [row["text"] for row in csv.DictReader((place / "texts.csv").open(encoding="utf-8", newline=""))]
    items = [json.loads(line) for line in (place / "study/public/items.jsonl").read_text("utf-8").splitlines()]
    for item in (item for item in items if key[item["item"]]["role"] != "reduced"):
        one = key[item["item"]]
        assert item["shown"]["text"] == texts[int(one["example"]) - 1]
        assert (one["label"] == "positive") == any(word in item["shown"]["text"] for word in WORDS[:3])
    with (place / "study/public/lists.csv").open(encoding="utf-8", newline="") as stream:
        asked = list(csv.DictReader(stream))
    answers = [
        {**row, "answer": key[row["item"]]["label"] if key[row["item"]]["role"] == "original" else "cannot tell"}
        for row in asked
    ]
    (place / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
    scored = people("score", "study", "answers.jsonl", "--json")
    line = json.loads(scored.out)["lines"][-1]
    assert (line["original"]["count"], line["original"]["of"]) == (12, 12)
    assert (line["reduced"]["count"], line["reduced"]["of"]) == (0, 12)
    assert line["undecided"]["preference"] == len(found) - 24
    assert json.loads(scored.out)["missing"] == 0
    table = people("score", "study", "answers.jsonl")
    assert table.code == 0
    assert "negative" in table.out
    (place / "half.jsonl").write_text("\n".join(map(json.dumps, answers[::2])), encoding="utf-8")
    assert "answers are missing" in people("score", "study", "half.jsonl").out


def test_without_gold_labels_the_predictions_count_as_right(place: Path, people: Run) -> None:
    assert export(people).code == 0
    assert {key["label"] for key in keys(place) if key["example"] == 19} == {"positive"}


def test_of_a_pair_the_second_text_is_reduced(place: Path, people: Run) -> None:
    pairs = ("--file", "texts.csv", "--column", "text", "--pair-column", "second", "--model", "people_models:pairs")
    said = people("export", *pairs, "-p", "importance=leave_one_out", "--out", "study", "--examples", "4")
    assert said.code == 0
    items = [json.loads(line) for line in (place / "study/public/items.jsonl").read_text("utf-8").splitlines()]
    assert {frozenset(item["shown"]) for item in items} == {frozenset(["premise", "hypothesis"])}
    assert {frozenset(item["A"]) for item in items if "A" in item} == {frozenset(["hypothesis"])}


def test_the_same_seed_makes_the_same_study(place: Path, people: Run) -> None:
    texts = []
    for seed in ("1", "1", "2"):
        said = export(people, "--seed", seed, "--examples", "6", "--quiet")
        assert said.code == 0
        texts.append([(place / "study" / name).read_bytes() for name in ("private/key.csv", "public/items.jsonl")])
        (place / "study").rename(place / f"study{len(texts)}")
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--design", "squared"), "rotated or groups"),
        (("--design", "groups", "--annotators", "2"), "3 or more annotators"),
        (("--label-column", "text"), "no label is called"),
        (("--label-column", "none"), "no column 'none'"),
        (("-p", "beem=3"), "beam"),
    ],
)
def test_what_cannot_be_done_is_one_line(people: Run, arguments: tuple[str, ...], words: str) -> None:
    said = export(people, *arguments)
    assert said.code == 2
    assert words in said.err
    assert len(said.err.splitlines()) == 1


def test_a_study_is_never_written_over_and_must_be_one_to_be_scored(place: Path, people: Run) -> None:
    assert export(people, "--examples", "2").code == 0
    again = export(people, "--examples", "2")
    assert (again.code, "holds a study already" in again.err) == (2, True)
    nothing = people("score", ".", "texts.csv")
    assert (nothing.code, "assay people export" in nothing.err) == (2, True)
    wrong = people("score", "study", "texts.csv")
    assert (wrong.code, "no 'item'" in wrong.err) == (2, True)
