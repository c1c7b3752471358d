"""What a stranger gets wrong with a model or a file of their own: one clear sentence, exit code 2, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tiny

import assay
from assay import cli
from assay.errors import BadInput

MODELS = """
import sys
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

regression = make_pipeline(CountVectorizer(), Ridge()).fit(["good film", "bad film"], [1.0, 0.0])

def fair(texts):
    return [[0.5, 0.5] for _ in texts]

def leaves(texts):
    sys.exit(3)
"""
PROGRAM = """
import sys
model = lambda texts: [0.5 for _ in texts]
sys.exit(4)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "strange_models.py").write_text(MODELS)
    (tmp_path / "strange_program.py").write_text(PROGRAM)
    (tmp_path / "array.json").write_text('[{"text": "a good film"}]')
    (tmp_path / "rows.csv").write_text("text,label\n" + "a good film,0\na bad film,1\n" * 6)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def explain(*more: str) -> list[str]:
    return ["explain", "a good film", *more]


REFUSED = {
    "a regressor": (explain("--model", "strange_models:regression"), "has neither predict_proba nor decision_function"),
    "exit in a call": (explain("--model", "strange_models:leaves"), "ended the program (exit code 3)"),
    "exit in an import": (explain("--model", "strange_program:model"), "put what it runs under if __name__"),
    "a module": (explain("--model", "strange_models"), "such as strange_models:model"),
    "a file of Python": (explain("--model", "strange_models.py"), "such as strange_models:model"),
    "no name": (explain("--model", ""), "the name of the model is empty"),
    "a misspelt command": (["explian", "x"], "Did you mean 'explain'? See `assay --help`."),
    "a wrong choice": (explain("--scalar", "x"), "for '--scalar': 'x' is not one of 'log_odds'"),
    "a file for a directory": (
        ["mend-labels", "--model", "strange_models:fair", "--data", "rows.csv", "--out", "rows.csv"],
        "rows.csv cannot be used for mending of labels: it is a file, not a directory.",
    ),
    "a directory as a text": (["explain", "./folder", "--model", "strange_models:fair"], "./folder is a directory;"),
    "one JSON value": (["explain", "--file", "array.json"], "write an object a line instead, and name the file .jsonl"),
}


def refused(arguments: list[str], sentence: str, capsys: Any) -> None:
    assert cli.main(arguments) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert sentence in said.err


@pytest.mark.parametrize("name", REFUSED)
def test_one_clear_sentence(name: str, place: Path, capsys: Any) -> None:
    refused(*REFUSED[name], capsys)


def test_a_directory_is_no_file(place: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.text.tables.import_module", missing)
    refused(["explain", "--file", "folder"], "folder is no file but a directory", capsys)


def missing(name: str) -> Any:
    raise ImportError(name)


@pytest.mark.parametrize("splitter", [str.split, len, lambda text: [(0, 1, 2)]])
def test_a_splitter_that_returns_words_is_told_what_is_wanted(splitter: Any) -> None:
    with pytest.raises(BadInput, match=r"returns the places of its words, \[\(start, end\), ...\]; what it returned"):
        assay.explain(tiny.bert(), "a film", "leave_one_out", split=splitter)


def test_a_description_without_texts_does_not_count_them() -> None:
    said = repr(assay.describe(tiny.bert(), None, "projection", progress=False))
    assert said.splitlines()[0].startswith("Projection, Projection of ")


def test_all_labels_of_a_model_that_writes_are_none() -> None:
    with pytest.raises(BadInput, match="choose among up to 50 labels; this one answers with words"):
        assay.explain(tiny.causal_lm(), "a film", "leave_one_out", target="all")


def test_without_a_command_there_is_help_and_no_complaint(capsys: Any) -> None:
    for arguments in ([], ["people"]):
        assert cli.main(arguments) == 0
        said = capsys.readouterr()
        assert ("Usage: assay" in said.out, said.err) == (True, "")


def test_a_closed_stdout_is_no_crash(place: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", None)
    assert cli.main(explain("--model", "strange_models:fair", "-q")) == 0
    assert capsys.readouterr().err == ""


def test_help_lists_what_is_wanted_first(capsys: Any) -> None:
    assert cli.main(["--help"]) == 0
    said = capsys.readouterr().out
    places = [said.index(f"│ {name} ") for name in ("explain", "trust", "check", "run", "mend", "methods")]
    assert places == sorted(places)


def test_a_run_with_other_settings_is_refused_in_a_few_words(place: Path, capsys: Any) -> None:
    first = ["run", "rows.csv", "--column", "text", "--model", "strange_models:fair", "--out", "out", "-q"]
    assert cli.main([*first, "-m", "lime", "-p", "samples=20"]) == 0
    capsys.readouterr()
    assert cli.main([*first, "-m", "loo", "--seed", "3"]) == 2
    said = capsys.readouterr().err
    assert said.count(" was ") == 4
    assert " more. Use another --out, or the same command as before: " in said


def test_a_query_of_no_table_names_those_there_are(place: Path, capsys: Any) -> None:
    run = ["run", "rows.csv", "--column", "text", "--model", "strange_models:fair", "--out", "out", "-q", "-m", "loo"]
    assert cli.main(run) == 0
    capsys.readouterr()
    refused(["query", "out", "select 1 from texts"], "The tables are explanations, words, checks, verdicts.", capsys)
