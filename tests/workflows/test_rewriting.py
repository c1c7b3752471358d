"""Rules applied to files: rules.json there and back, tags by a tagger alone, `assay describe --out` and `--apply`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import tiny

import assay
from assay import cli
from assay.errors import BadFile, BadInput
from assay.explanations.about import About
from assay.explanations.rules import Rule, Rules
from assay.explanations.sample_explanation import SampleId
from assay.text.sample import Sample
from assay.text.word_rules import Beside, WordRule
from assay.workflows import rewriting
from assay.workflows.rewriting import read_rules, rewritten, write_rows

FILM, GONE = WordRule(("film",), ("movie",)), WordRule(("very",), ())
TEXTS = [("a very good Film", "pos"), ("nothing here", "neg"), ("film film", "neg")]


def rules(*changes: WordRule, edited: int = 0) -> Rules:
    found = tuple(Rule(str(change), {}, change.to_dict()) for change in changes)
    facts = {"changes": {"field": "text", "edited": edited}, "searched": 4, "held_out": 4, "random_words": ["x"]}
    about = About(method="sear", title="SEAR", parameters={"tagger": "tagger"})
    return Rules(SampleId("t", "ab" * 16, 8), found, facts=facts, about=about)


def saved(path: Path, e: Any) -> Path:
    path.write_text(e.to_json(), encoding="utf-8")
    return path


def test_every_rule_makes_its_own_text(tmp_path: Path) -> None:
    read = read_rules(saved(tmp_path / "rules.json", rules(FILM, GONE)))
    rows = list(rewritten(read, Sample.of(TEXTS)))
    assert [(row.row, row.strings[0], row.rule, row.label) for row in rows] == [
        (1, "a very good Movie", "film → movie", "pos"),
        (1, "a good Film", "very → (nothing)", "pos"),
        (3, "movie movie", "film → movie", "neg"),
    ]
    write_rows(tmp_path / "new.jsonl", rows)
    write_rows(tmp_path / "new.csv", rows)
    for name in ("new.jsonl", "new.csv"):  # what was written can be read again as a sample, for augmentation
        again = Sample.of(tmp_path / name, text="text", label="label")
        assert [(row.text, row.label) for row in again] == [(row.strings[0], row.label) for row in rows]
    with pytest.raises(BadFile, match=r"must end in \.jsonl or \.csv"):
        write_rows(tmp_path / "new.xls", rows)


def test_pairs_change_where_the_rules_were_found() -> None:
    rows = list(rewritten(rules(FILM, edited=1), Sample.of([(("a film", "the film"), None)])))
    assert [row.strings for row in rows] == [("a film", "the movie")]
    assert rows[0].to_dict()["pair"] == "the movie"
    with pytest.raises(BadInput, match="second text of a pair"):
        list(rewritten(rules(FILM, edited=1), Sample.of(["a film"])))


def test_a_tagger_is_asked_only_where_a_rule_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    tagger = assay.load(tiny.token_tagger())
    asked: list[str] = []
    monkeypatch.setattr(rewriting, "load", lambda name: asked.append(name) or tagger)
    assert len(list(rewritten(rules(FILM, GONE), Sample.of(TEXTS)))) == 3
    assert asked == []
    found = []
    for tag in tagger.labels:
        change = WordRule(("film",), ("movie",), left=Beside(tag, is_tag=True))
        found += [row.row for row in rewritten(rules(change), Sample.of(TEXTS))]
    assert set(asked) == {"tagger"}
    assert sorted(found) == [1, 3]  # each by one tag


@pytest.mark.parametrize("content", ["", "[1]", '{"kind": "Edits"}', '{"kind": "Rules"}', "no json"])
def test_what_is_no_file_of_rules_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "rules.json").write_text(content)
    with pytest.raises(BadFile):
        read_rules(tmp_path / "rules.json")
    with pytest.raises(BadFile, match="there is no file"):
        read_rules(tmp_path / "none.json")


MODELS = """
import numpy as np
from assay import BlackBox
WEIGHTS = {"good": 1.0, "funny": 1.5, "dull": -1.5, "movie": -2.0, "fine": -3.0}
def chances(texts):
    values = np.array([0.1 + sum(WEIGHTS.get(word, 0.0) for word in text.split()) for text in texts])
    positive = 1 / (1 + np.exp(-values))
    return np.stack([1 - positive, positive], axis=1)
sentiment = BlackBox(chances, labels=["negative", "positive"], name="lexicon")
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    (tmp_path / "apply_models.py").write_text(MODELS)
    (tmp_path / "texts.csv").write_text("text,label\na good film,1\nthe film,0\nno,0\n")
    saved(tmp_path / "rules.json", rules(FILM))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("COLUMNS", "80")

    def command(*arguments: str) -> Any:
        code = cli.main(["describe", "-m", "sear", "--file", "texts.csv", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


def test_apply_prints_and_writes(run: Any, tmp_path: Path) -> None:
    code, out, _ = run("--column", "text", "--apply", "rules.json")
    assert code == 0
    assert "row 1: film → movie\n  a good [-film-]{+movie+}" in out
    assert "1 rule changed 2 of 3 texts." in out
    code, out, _ = run("--column", "text", "--label-column", "label", "--apply", "rules.json", "--out", "new.jsonl")
    assert (code, "wrote new.jsonl" in out) == (0, True)
    rows = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text().splitlines()]
    assert [(row["text"], row["label"], row["original"]) for row in rows] == [
        ("a good movie", "1", "a good film"),
        ("the movie", "0", "the film"),
    ]
    code, out, _ = run("--column", "text", "--apply", "rules.json", "--json")
    assert [json.loads(line)["row"] for line in out.splitlines()] == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--apply", "no.json"), "there is no file no.json"),
        (("--apply", "texts.csv"), "cannot be read"),
        (("--apply", "rules.json", "--out", "new.txt"), "must end in .jsonl or .csv"),
        (("--apply", "rules.json", "--html", "x.html"), "no --html"),
    ],
)
def test_apply_refuses(run: Any, arguments: tuple[str, ...], said: str) -> None:
    code, _, err = run("--column", "text", *arguments)
    assert code == 2
    assert said in " ".join(err.split())


def test_out_keeps_any_description(run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["describe", "--model", "apply_models:sentiment", "--file", "texts.csv", "--column", "text", "--quiet"]
    short = ["-m", "sp_lime", "-p", "of=leave_one_out", "-p", "picks=1"]
    assert cli.main([*arguments, *short, "--out", "kept.json"]) == 0
    kept = assay.Explanation.from_json((tmp_path / "kept.json").read_text())
    assert kept.about.method == "sp_lime"
    assert cli.main([*arguments, "-m", "sp_lime,sear", "--out", "kept.json"]) == 2
    assert "--out takes the description of one method" in capsys.readouterr().err
