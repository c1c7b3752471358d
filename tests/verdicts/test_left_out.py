"""Of several checks those that cannot be asked are named, with the reason, and the others are asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tiny

import assay
from assay.cli import main
from assay.errors import BadInput
from assay.verdicts.left_out import LeftOut, all_that_can

TEXTS = ["a good film", "the plot was dull"]
SETTINGS: dict[str, Any] = {"draws": 3, "progress": False}


def test_what_cannot_be_asked_stands_beside_the_verdicts() -> None:
    model = assay.load(tiny.bert())
    checks = ["rule_precision", "deletion", "human_agreement", "sufficiency"]
    found = assay.check(model, TEXTS, ["leave_one_out", "random"], checks, **SETTINGS)
    alone = assay.check(model, TEXTS, ["leave_one_out", "random"], ["deletion", "sufficiency"], **SETTINGS)
    assert [v.to_dict() for v in found] == [v.to_dict() for v in alone]
    assert alone.left_out == ()
    assert [(one.method, one.check) for one in found.left_out] == [
        (method, check) for method in ("leave_one_out", "random") for check in ("rule_precision", "human_agreement")
    ]
    assert "no verdict of rule_precision on random: rule_precision reads Rules" in repr(found)


def test_one_check_that_cannot_be_asked_is_an_error() -> None:
    model = assay.load(tiny.bert())
    with pytest.raises(BadInput, match=r"^rule_precision reads Rules, but random returns TokenScores"):
        assay.check(model, TEXTS, "random", "rule_precision", **SETTINGS)
    with pytest.raises(BadInput, match=r"^say what is marked"):
        assay.check(model, TEXTS, "random", "human_agreement", **SETTINGS)
    with pytest.raises(BadInput, match=r"^none of these checks .* No verdict of human_agreement .* No verdict of flip"):
        assay.check(model, TEXTS, "random", ["human_agreement", "flip_rate"], **SETTINGS)


def test_what_a_model_cannot_answer_is_left_out() -> None:
    def answer(texts: list[str]) -> Any:
        return [[0.5, 0.5]] * len(texts)

    found = assay.check(answer, TEXTS, "random", ["randomization", "deletion"], **SETTINGS)
    assert [v.check for v in found] == ["deletion"]
    assert "gives predictions only" in str(found.left_out[0].error)


def test_the_command_shows_what_there_is_and_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["check", *TEXTS, "--method", "random", "--draws", "3", "--json", "--check"]
    assert main([*command, "human_agreement,deletion"]) == 2
    said = capsys.readouterr()
    assert [json.loads(line)["check"] for line in said.out.splitlines()] == ["deletion"]
    assert said.err.splitlines()[-1].startswith("assay: no verdict of human_agreement on random: say what is marked")
    assert main([*command, "deletion"]) == 0


def test_errors_that_are_not_ours_end_all() -> None:
    def broken() -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        all_that_can([broken])
    assert all_that_can([lambda: (), lambda: LeftOut("m", "c", BadInput("why"))])[1][0].check == "c"
