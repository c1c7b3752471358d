"""--question and --labels: a chat model as a classifier, from the shell."""

from __future__ import annotations

from typing import Any

import pytest

import assay
from assay.cli import main, requests


def test_the_question_and_its_answers_reach_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def load(name: str, **how: Any) -> Any:
        asked.update(how, name=name)
        return assay.load(lambda texts: [[0.2, 0.8] for _ in texts], labels=how["labels"])

    monkeypatch.setattr(requests, "load", load)
    words = ["explain", "a fine film", "-m", "leave_one_out", "--model", "chat", "--question", "Good?"]
    assert main([*words, "--labels", "no,yes", "--json"]) == 0
    assert asked == {"name": "chat", "question": "Good?", "labels": ["no", "yes"], "device": "auto", "dtype": None}


def test_answers_without_a_question_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "a fine film", "-m", "leave_one_out", "--labels", "no,yes"]) == 2
    assert "give --question too" in capsys.readouterr().err


def test_a_file_without_its_option_is_explained(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    file = tmp_path / "reviews.csv"
    file.write_text("text\na fine film\n")
    assert main(["describe", str(file), "-m", "sp_lime"]) == 2
    assert f"such as --file {file}" in capsys.readouterr().err
