"""Files, columns, labels, models and errors that hold escape sequences: what the shell prints steers no terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from assay import cli

STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u206f\u200e\u200f\u061c]")
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\u2066\u200f"
MODELS = f"""
import numpy as np
from assay import BlackBox

def halves(texts):
    return np.full((len(texts), 2), 0.5)

def angry(texts):
    raise RuntimeError({EVIL!r})

labelled = BlackBox(halves, labels=[{EVIL!r}, "b"], name={EVIL!r})
failing = BlackBox(angry, labels=["a", "b"], name="angry")
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "evil_models.py").write_text(MODELS)
    (tmp_path / "texts.csv").write_text(f"id,{EVIL}\n1,good film\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


COMMANDS = {
    "column": (2, ["explain", "--file", "texts.csv", "--column", "nothing", "--model", "evil_models:labelled"]),
    "named column": (2, ["explain", "--file", "texts.csv", "--column", f"{EVIL}?", "--model", "evil_models:labelled"]),
    "file": (2, ["explain", "--file", f"{EVIL}.csv", "--column", "a", "--model", "evil_models:labelled"]),
    "model": (2, ["explain", "a film", "--model", f"./{EVIL}"]),
    "module": (2, ["explain", "a film", "--model", f"evil_models:{EVIL}"]),
    "method": (2, ["explain", "a film", "--model", "evil_models:labelled", "--method", EVIL]),
    "target": (2, ["explain", "a film", "--model", "evil_models:labelled", "--target", EVIL + "x"]),
    "option": (2, ["explain", "a film", f"--{EVIL}"]),
    "model error": (2, ["explain", "a film", "--model", "evil_models:failing", "--method", "leave_one_out"]),
    "label": (0, ["explain", f"a film {EVIL}", "--model", "evil_models:labelled", "--method", "leave_one_out"]),
    "json": (0, ["explain", f"a {EVIL}", "--model", "evil_models:labelled", "--method", "leave_one_out", "--json"]),
    "page": (0, ["explain", "a", "--model", "evil_models:labelled", "--method", "random", "--html", f"{EVIL}.html"]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_that_steers_leaves_the_shell(name: str, place: Path, capsys: Any) -> None:
    code, arguments = COMMANDS[name]
    assert cli.main(arguments) == code
    said = capsys.readouterr()
    assert not STEERS.search(said.out)
    assert not STEERS.search(said.err)
    assert said.err.count("\n") == (1 if code else 0)
    assert said.out or said.err


def test_json_holds_the_very_same_names(place: Path, capsys: Any) -> None:
    assert cli.main(COMMANDS["json"][1]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["text"] == f"a {EVIL}"
    assert EVIL in told["prediction"]
