"""`assay trust`: what it prints, what it writes, what it refuses."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from assay import cli

MODELS = """
import numpy as np
from assay import BlackBox

WEIGHTS = {"superb": 1.8, "good": 1.0, "funny": 1.5, "mess": -3.0, "dull": -1.5, "script": -0.7}

def chances(texts):
    values = np.array([sum(WEIGHTS.get(word, 0.0) for word in text.split()) for text in texts])
    positive = 1 / (1 + np.exp(-values))
    return np.stack([1 - positive, positive], axis=1)

sentiment = BlackBox(chances, labels=["negative", "positive"], name="lexicon")
pairs = BlackBox(lambda rows: chances([" ".join(row) for row in rows]), labels=["no", "yes"], name="pairs")
pairs.fields = ("premise", "hypothesis")
"""
SENTENCE = "the acting is superb and funny but the script is a dull mess for two hours"


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("trust")
    (at / "trust_models.py").write_text(MODELS)
    rows = "\n".join(f'{i},"{SENTENCE}, {word}"' for i, word in enumerate(["good", "dull", "fine"]))
    (at / "texts.csv").write_text(f"id,review\n{rows}\n", encoding="utf-8")
    (at / "blank.csv").write_text('id,review\n1,good film\n2," "\n', encoding="utf-8")
    return at


@pytest.fixture
def trust(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`assay trust` in the directory, with the toy model and two methods unless said otherwise."""
    monkeypatch.chdir(place)
    monkeypatch.setattr(os, "environ", os.environ.copy())

    def command(*arguments: str, stdin: bytes = b"") -> Said:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        model = () if "--model" in arguments else ("--model", "trust_models:sentiment")
        method = () if {"-m", "--default"} & set(arguments) else ("-m", "leave_one_out,random")
        code = cli.main(["trust", *(a for a in arguments if a != "--default"), *model, *method])
        return Said(code, *capsys.readouterr())

    return command


def test_the_card_is_printed(trust: Run) -> None:
    said = trust(SENTENCE, "--default")
    assert said.code == 0
    assert "Why “negative”, and may you believe it?" in said.out
    assert "Use " in said.out
    for title in ("Leave-one-out", "KernelSHAP", "LIME", "PartitionSHAP"):
        assert title in said.out


def test_json_is_one_object(trust: Run) -> None:
    said = trust(SENTENCE, "good", "--json", "--quiet")
    (line,) = said.out.splitlines()
    data = json.loads(line)
    assert data["texts"] == 2
    assert [m["name"] for m in data["methods"]] == ["leave_one_out", "random"]
    assert data["model"] == "lexicon"


def test_html_is_written(trust: Run, place: Path) -> None:
    said = trust(SENTENCE, "--html", "card.html")
    assert said.out.endswith("wrote card.html\n")
    assert "may you believe it?" in (place / "card.html").read_text(encoding="utf-8")


def test_texts_come_from_a_column_of_a_file(trust: Run) -> None:
    said = trust("--file", "texts.csv", "--column", "review", "--limit", "2", "--json", "--quiet")
    assert json.loads(said.out)["texts"] == 2


def test_pairs_targets_checks_and_parameters(trust: Run) -> None:
    said = trust("a good film", "--pair", "a dull one", "--model", "trust_models:pairs", "--target", "yes", "--json")
    assert json.loads(said.out)["methods"][0]["explanations"][0]["target"] == "yes"
    options = ("-c", "deletion", "-p", "deletion.share=0.5", "--draws", "30", "--seed", "3", "--json")
    data = json.loads(trust(SENTENCE, *options).out)
    (verdict,) = data["methods"][0]["verdicts"]
    assert (verdict["check"], verdict["parameters"]["share"], verdict["draws"], data["seed"]) == (
        "deletion",
        0.5,
        30,
        3,
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give a text"),
        ((SENTENCE, "-m", "leave_one_outt"), "did you mean 'leave_one_out'"),
        ((SENTENCE, "-m", "gradient"), "which the model lexicon cannot answer"),
        ((SENTENCE, "-c", "deletio"), "did you mean 'deletion'"),
        ((SENTENCE, "-c", "human_agreement"), "highlights"),
        ((SENTENCE, "--default", "-p", "samples=3"), "-p sets a parameter of what --method or --check names"),
        ((SENTENCE, "--json", "--html", "x.html"), "not both"),
        ((SENTENCE, "--html", "nowhere/x.html"), "no directory nowhere"),
        (("--file", "blank.csv", "--column", "review"), "text 2:"),
        ((SENTENCE, "--model", "trust_models:pairs"), "--pair"),
        ((SENTENCE, "--target", "neutral"), "no label is called 'neutral'"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(trust: Run, arguments: tuple[str, ...], said: str) -> None:
    result = trust(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert said in result.err


def test_scores_that_another_tool_made(trust: Run, place: Path) -> None:
    line = {"text": SENTENCE, "scores": [["superb", 2], ["mess", -3], ["dull", -1]], "method": "mine"}
    (place / "mine.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    said = trust("--scores", "mine.jsonl", "--default", "--json", "--quiet")
    (standing,) = json.loads(said.out)["methods"]
    assert standing["name"] == "mine"
    assert standing["explanations"][0]["about"]["given"] is True
    said = trust(SENTENCE, "--scores", "mine.jsonl", "--default")
    assert said.code == 2
    assert "--scores holds the texts too" in said.err
