"""A NaN or an infinity anywhere in an answer is an error with the name of its row, whatever the answer is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from assay.errors import BadInput, NonFiniteAnswer
from assay.models import BlackBox
from assay.models.batching import Batcher
from assay.questions.answers import (
    Adversaries,
    AttentionMaps,
    Fills,
    HiddenStates,
    PieceGradient,
    PieceWords,
    Predictions,
)
from assay.questions.base import Question
from assay.questions.predict import Predict

OWNERS = PieceWords(1, 1, np.array([0]), np.array([0]), np.ones(1, np.float32))
KINDS: dict[str, Callable[[Any], Any]] = {
    "numbers": lambda x: np.array([0.5, x]),
    "a table": lambda x: np.array([[0.5, 1.0], [2.0, x]]),
    "words": lambda x: Fills((("a", "b"),), np.array([[0.5, x]])),
    "attention": lambda x: AttentionMaps(np.array([[[[1.0, x]]]], np.float32), OWNERS),
    "a gradient": lambda x: PieceGradient(np.array([[0.1, x]], np.float32), OWNERS),
    "states": lambda x: HiddenStates(np.array([[[0.1, x]]], np.float32), OWNERS),
    "attention that was sought": lambda x: Adversaries(np.array([[0.5, x]]), Predictions(np.zeros((1, 2)))),
    "answers under it": lambda x: Adversaries(np.array([[0.5, 0.5]]), Predictions(np.array([[0.0, x]]))),
}


class Answering(BlackBox):
    """A model that answers each row with what stands for it."""

    def __init__(self, answers: dict[str, Any]) -> None:
        super().__init__(len, labels=["n", "p"])
        self.known = answers

    def answer(self, kind: type[Question], batch: Sequence[str]) -> Any:
        return [self.known[row] for row in batch]

    def collect(self, kind: type[Question], outputs: Sequence[Any]) -> list[Any]:
        return [answer for output in outputs for answer in output]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", KINDS)
def test_only_the_row_that_is_not_finite_is_an_error(kind: str, bad: float) -> None:
    answers = {"good": KINDS[kind](0.25), "bad": KINDS[kind](bad), "fine": KINDS[kind](0.75)}
    found, tokens = Batcher(100).answers(Answering(answers), Predict, [("good",), ("bad",), ("fine",)])
    assert found[0] is answers["good"]
    assert found[2] is answers["fine"]
    assert isinstance(found[1], NonFiniteAnswer)
    assert "'bad'" in str(found[1])
    assert tokens.tolist() == [1, 1, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_finite_answers_are_left_as_they_are(kind: str) -> None:
    answers = {"good": KINDS[kind](0.25), "fine": KINDS[kind](0.75)}
    found, _ = Batcher(100).answers(Answering(answers), Predict, [("good",), ("fine",)])
    assert found[0] is answers["good"]
    assert found[1] is answers["fine"]


class Unreadable(Answering):
    """A model that cannot read some rows."""

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        return [BadInput("no") if row == "bad" else row for row in super().encode(kind, rows)]


@pytest.mark.parametrize("rows", [["good", "bad", "fine"], ["bad", "good"], ["bad"], ["good"]])
def test_a_row_that_cannot_be_read_is_an_error_of_its_own(rows: list[str]) -> None:
    answers = {"good": np.array([0.5, 1.0]), "fine": np.array([2.0, 3.0])}
    found, tokens = Batcher(100).answers(Unreadable(answers), Predict, [(row,) for row in rows])
    for row, answer, count in zip(rows, found, tokens.tolist(), strict=True):
        assert isinstance(answer, BadInput) if row == "bad" else answer is answers[row]
        assert count == (row != "bad")
