"""Leave-one-out without a model: the questions are answered by hand; and with one, against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
import tiny

import assay
from assay.explanations.case import Case
from assay.methods.input_features.leave_one_out import LeaveOneOut
from assay.models import BlackBox
from assay.questions.answers import Predictions
from assay.questions.predict import Predict
from assay.text.text import Text


def test_the_conversation_by_hand() -> None:
    talk = LeaveOneOut().explain(Case(Text.of("good film"), 1))
    question = next(talk)
    assert isinstance(question, Predict)
    assert list(question.rows(BlackBox(lambda texts: texts, labels=["n", "p"]))) == [
        ("good film",),
        ("film",),
        ("good",),
    ]
    with pytest.raises(StopIteration) as stop:
        talk.send(Predictions(np.log([[0.2, 0.8], [0.5, 0.5], [0.1, 0.9]])))
    np.testing.assert_allclose(stop.value.value.scores, [np.log(4), np.log(4) - np.log(9)], atol=1e-12)


@pytest.mark.parametrize("scalar", ["log_odds", "probability", "logit"])
@pytest.mark.parametrize("text", ["a slow but good film .", ("the film was good", "a good film was good")])
def test_against_a_plain_loop(text: str | tuple[str, str], scalar: str) -> None:
    model = assay.load(tiny.bert())
    e = assay.explain(model, text, "leave_one_out", scalar=scalar)
    whole = model.predict([text])[0]
    for i, score in enumerate(e.scores):
        strings = e.text.without(i).strings
        without = model.predict([strings if len(strings) == 2 else strings[0]])[0]
        p, q = whole[e.target], without[e.target]
        expected = {"log_odds": np.log(p / (1 - p)) - np.log(q / (1 - q)), "probability": p - q}.get(scalar)
        if expected is not None:
            assert score == pytest.approx(expected, abs=1e-5)


def test_one_word_is_compared_with_the_empty_text() -> None:
    model = assay.load(tiny.bert())
    e = assay.explain(model, "good", "leave_one_out", scalar="probability")
    assert e.scores[0] == pytest.approx(
        model.predict(["good"])[0, e.target] - model.predict([""])[0, e.target], abs=1e-6
    )
