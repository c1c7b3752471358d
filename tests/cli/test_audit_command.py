"""`assay audit-attention`: what it prints, what it writes, what it refuses."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import tiny

from assay import cli

BOX = """
from assay import BlackBox

box = BlackBox(lambda texts: [0.5] * len(texts), labels=["no", "yes"], name="box")
"""


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("audit")
    network, tokenizer = tiny.attentive()
    network.save_pretrained(at / "net")
    tokenizer.save_pretrained(at / "net")
    (at / "audit_models.py").write_text(BOX)
    rows = "\n".join(f"{i},{text}" for i, text in enumerate(["the plot was dull", "a very good film", "great film"]))
    (at / "texts.csv").write_text(f"id,review\n{rows}\n", encoding="utf-8")
    (at / "blank.csv").write_text('id,review\n1,good film\n2," "\n', encoding="utf-8")
    return at


@pytest.fixture
def audit(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(place)
    monkeypatch.setattr(os, "environ", os.environ.copy())

    def command(*arguments: str) -> Said:
        model = () if "--model" in arguments else ("--model", "net")
        code = cli.main(["audit-attention", *arguments, *model, "--steps", "5", "--permutations", "5"])
        return Said(code, *capsys.readouterr())

    return command


def test_the_answers_are_printed(audit: Run) -> None:
    said = audit("the plot was dull", "a very good film")
    assert said.code == 0
    assert "Do attention and gradients rank the words alike? Too few texts to say." in said.out
    assert "random attention" in said.out
    assert "arXiv:1902.10186" in said.out


def test_json_is_one_object(audit: Run) -> None:
    said = audit("--file", "texts.csv", "--column", "review", "--limit", "2", "--json", "--quiet", "--k", "2")
    (line,) = said.out.splitlines()
    data = json.loads(line)
    assert [one["text"] for one in data["texts"]] == ["the plot was dull", "a very good film"]
    assert data["settings"]["steps"] == 5
    assert data["settings"]["k"] == 2
    assert len(data["answers"]) == 5


def test_html_is_written(audit: Run, place: Path) -> None:
    said = audit("--file", "texts.csv", "--column", "review", "--html", "audit.html")
    assert said.out.endswith("wrote audit.html\n")
    assert "Too few texts to say." in said.out
    assert "be read as an explanation?" in (place / "audit.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give a text"),
        (("a film", "--model", "audit_models:box"), "which the model box cannot answer; models that can: attentive"),
        (("--file", "blank.csv", "--column", "review"), "text 2:"),
        (("--file", "texts.csv"), "--column"),
        (("a film", "--json", "--html", "x.html"), "not both"),
        (("a film", "--html", "nowhere/x.html"), "no directory nowhere"),
        (("a film", "--head", "4"), "there is no head 4"),
        (("a film", "--layer", "4"), "there is no layer 4"),
        (("a film", "--epsilon", "3"), "epsilon from 0 to 1"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(audit: Run, arguments: tuple[str, ...], said: str) -> None:
    result = audit(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert said in result.err
