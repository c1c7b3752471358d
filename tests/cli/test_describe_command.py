"""`assay describe`, and `assay check` of what it describes: what they print, what they write, what they refuse."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import assay
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
TEXTS = ["a film", "good and funny", "the end", "a dull mess", "superb", "the script is good"]


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command in a directory with the toy models and a file of texts."""
    (tmp_path / "describe_models.py").write_text(MODELS)
    rows = "\n".join(f"{i},{text},x" for i, text in enumerate(TEXTS))
    (tmp_path / "texts.csv").write_text(f"id,review,label\n{rows}\n", encoding="utf-8")
    (tmp_path / "blank.csv").write_text('id,review\n1,good film\n2," "\n', encoding="utf-8")
    (tmp_path / "empty.csv").write_text("id,review\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("COLUMNS", "80")

    def command(name: str, *arguments: str, model: str = "describe_models:sentiment") -> Said:
        code = cli.main([name, "--model", model, *arguments])
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return command


FILE = ("--file", "texts.csv", "--column", "review", "--quiet")
SHORT = ("-m", "sp_lime", "-p", "of=leave_one_out", "-p", "picks=2")


def test_the_terminal(run: Run) -> None:
    said = run("describe", *FILE, *SHORT)
    assert said.code == 0, said.err
    assert "Which texts show best what the model does?" in said.out
    assert "6 texts of texts.csv" in said.out
    assert "1. row 4  adds" in said.out
    assert "new: mess · dull" in said.out
    assert "▲▲▲" in said.out
    assert all(len(line) <= 80 for line in said.out.splitlines())
    assert "\x1b" not in said.out


def test_json_has_the_fields_that_programs_rely_on(run: Run) -> None:
    said = run("describe", *FILE, *SHORT, "--json", "--seed", "3")
    (line,) = said.out.splitlines()
    data = json.loads(line)
    assert data["kind"] == "Selection"
    assert data["chosen"] == [3, 1]
    assert 0 < data["covered"] < 1
    assert data["sample"]["size"] == 6
    assert data["about"]["seed"] == 3
    assert data["about"]["parameters"] == {"of": "leave_one_out", "picks": 2, "words": 10}
    assert assay.Explanation.from_json(line).to_json() == line


def test_the_page(run: Run, tmp_path: Path) -> None:
    said = run("describe", "--file", "texts.csv", "--column", "review", *SHORT, "--html", "page.html")
    assert said.code == 0
    assert said.out.endswith("wrote page.html\n")
    page = (tmp_path / "page.html").read_text()
    assert "Which texts show best" in page
    assert "Row 4" in page


def test_two_settings_of_a_method(run: Run, tmp_path: Path) -> None:
    said = run("describe", *FILE, *SHORT, "-p", "words=1", "--limit", "3", "--json")
    data = json.loads(said.out)
    assert (data["sample"]["size"], data["about"]["parameters"]["words"]) == (3, 1)


def test_labels_and_pairs(run: Run) -> None:
    said = run("describe", *FILE, *SHORT, "--label-column", "label", "--json")
    assert json.loads(said.out)["chosen"] == [3, 1]
    pair = run("describe", *FILE, *SHORT, "--pair-column", "label", "--json", model="describe_models:pairs")
    assert json.loads(pair.out)["maps"][0]["text"] == {"premise": "a dull mess", "hypothesis": "x"}
    one = run("describe", *FILE, *SHORT, model="describe_models:pairs")
    assert one.code == 2
    assert "reads pairs" in one.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*SHORT,), "sp_lime describes what a model does with texts; give a sample of them (--file F)"),
        ((*FILE, "-m", "lime"), "lime explains single texts, not a whole sample; call assay.explain"),
        ((*FILE, "-m", "sp_lima"), "did you mean 'sp_lime'"),
        ((*FILE, "-m", ""), "--method needs a name"),
        ((*FILE, "-m", "sp_lime", "-p", "pick=3"), "did you mean 'picks'"),
        ((*FILE, "-m", "sp_lime", "-p", "picks=many"), "picks must be of type int, not 'many'"),
        ((*FILE, "-m", "sp_lime", "-p", "of=anchors"), "anchors returns TokenRule"),
        ((*FILE, "-m", "sp_lime", "-p", "of=gradient"), "sp_lime asks for InputGradient"),
        (("--file", "none.csv", *SHORT), "none.csv"),
        (("--file", "texts.csv", "--column", "no", *SHORT), "has no column 'no'"),
        (("--file", "empty.csv", "--column", "review", *SHORT), "holds no texts"),
        (("--file", "blank.csv", "--column", "review", "-q", *SHORT), "blank.csv, row 2: the text ' ' has no word"),
        ((*FILE, *SHORT, "--json", "--html", "p.html"), "give --json or --html, not both"),
        ((*FILE, *SHORT, "--html", "nowhere/p.html"), "no directory nowhere"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run: Run, arguments: tuple[str, ...], said: str) -> None:
    code, out, err = run("describe", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_check_takes_a_method_that_describes(run: Run, tmp_path: Path) -> None:
    said = run("check", *FILE, *SHORT, "-c", "coverage_gain", "--json")
    assert said.code == 0, said.err
    data = json.loads(said.out)
    assert (data["method"], data["check"], data["better"]) == ("sp_lime", "coverage_gain", "higher")
    assert data["mean"] > data["random"]
    assert data["draws"] == 200
    assert "Coverage gain" in run("check", *FILE, *SHORT, "-c", "coverage_gain").out
    page = run("check", *FILE, *SHORT, "-c", "coverage_gain", "--html", "check.html")
    assert page.code == 0, page.err
    text = (tmp_path / "check.html").read_text()
    assert "Row 4" in text
    assert "random descriptions of the same sample" in text


@pytest.mark.parametrize("command", [("explain", "a film"), ("run", "texts.csv", "--column", "review", "--out", "out")])
def test_commands_of_single_texts_say_what_to_call(run: Run, command: tuple[str, ...], tmp_path: Path) -> None:
    code, _, err = run(*command, *SHORT)
    assert code == 2
    assert "sp_lime describes a whole sample, not single texts; call assay.describe(model, sample, 'sp_lime')" in err
    assert not (tmp_path / "out").exists()


def test_methods_lists_it_in_its_row(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["methods", "--json"])
    entry = next(one for one in json.loads(capsys.readouterr().out) if one["name"] == "sp_lime")
    assert (entry["row"], entry["uses"], entry["section"]) == ("ensemble", "dataset", "13.1")
    assert (entry["reads"], entry["returns"], entry["installed"]) == ("Sample", "Selection", True)
    cli.main(["methods"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "[SP-LIME" not in shown
    assert "SP-LIME 13.1" in shown
