"""Black boxes: functions from texts to probabilities or logits, and every wrong answer a function can give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import assay
from assay.engine.engine import Engine
from assay.errors import AssayError, BadAnswer, NonFiniteAnswer
from assay.questions.gradients import InputGradient
from assay.questions.predict import Predict
from assay.text.text import Text


def goodness(texts: list[str]) -> list[float]:
    return [0.9 if "good" in text else 0.2 for text in texts]


def test_one_number_per_text_is_the_second_of_two_labels() -> None:
    model = assay.load(goodness, labels=["no", "yes"])
    assert model.labels == ("no", "yes")
    assert model.predict(["good", "bad"]) == pytest.approx(np.array([[0.1, 0.9], [0.8, 0.2]]))
    assert assay.load(goodness).labels == ("0", "1")


def test_a_table_of_probabilities() -> None:
    model = assay.load(lambda texts: [[0.2, 0.3, 0.5] for _ in texts])
    assert model.labels == ("0", "1", "2")
    assert model.predict(["a", "b"]) == pytest.approx(np.array([[0.2, 0.3, 0.5]] * 2))
    assert model.name
    assert set(model.answers) == {Predict}


def test_certainty_stays_finite() -> None:
    told = assay.explain(lambda texts: [float("good" in text) for text in texts], "a good film", "leave_one_out")
    assert np.isfinite(told.scores).all()
    assert told.ranking[0] == 1


WRONG: list[tuple[str, Any, type[AssayError], str]] = [
    ("too few rows", lambda n: [[0.5, 0.5]] * (n - 1), BadAnswer, r"must return \[2, 2\]"),
    ("too many columns", lambda n: [[0.2, 0.3, 0.5]] * n, BadAnswer, r"must return \[2, 2\]"),
    ("three dimensions", lambda n: np.full((n, 2, 2), 0.5), BadAnswer, "must return"),
    ("not summing to one", lambda n: [[0.5, 0.6]] * n, BadAnswer, "do not sum to 1.*multi_label=True"),
    ("negative", lambda n: [[-0.5, 1.5]] * n, BadAnswer, "between 0 and 1"),
    ("NaN", lambda n: [[np.nan, 0.5]] * n, NonFiniteAnswer, "NaN"),
    ("infinite", lambda n: [[np.inf, 0.5]] * n, NonFiniteAnswer, "infinity"),
    ("words", lambda n: ["yes"] * n, AssayError, "return"),
    ("nothing", lambda n: None, AssayError, "return"),
    ("one number", lambda n: 0.5, AssayError, "return"),
    ("ragged", lambda n: [[0.5, 0.5], [1.0]], AssayError, "return"),
]


@pytest.mark.parametrize(("answer", "error", "said"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_wrong_answers_have_names(answer: Any, error: type[AssayError], said: str) -> None:
    model = assay.load(lambda texts: answer(len(texts)), labels=["no", "yes"])
    with pytest.raises(error, match=said):
        model.predict(["a", "b"])


@pytest.mark.parametrize("answer", [0.5, ["yes"], None, [[[0.5, 0.5]]]], ids=["number", "words", "nothing", "deep"])
def test_wrong_answers_to_the_first_question_have_names(answer: Any) -> None:
    """Without labels the function is asked how many there are."""
    with pytest.raises(AssayError):
        assay.load(lambda texts: answer).predict(["a"])


def test_a_function_that_fails_at_once_is_named() -> None:
    with pytest.raises(AssayError):
        assay.load(lambda texts: 1 / 0)


def test_one_bad_row_does_not_touch_its_neighbours() -> None:
    def moody(texts: list[str]) -> list[list[float]]:
        return [[np.nan, np.nan] if "bad" in text else [0.9, 0.1] for text in texts]

    good, bad = assay.stream(assay.BlackBox(moody, labels=["n", "p"]), ["good film", "bad film"], "random")
    assert good.get().prediction == pytest.approx({"n": 0.9, "p": 0.1})
    assert isinstance(bad.error, NonFiniteAnswer)


def test_several_labels_may_hold() -> None:
    model = assay.BlackBox(lambda texts: [[0.9, 0.8, 0.1]] * len(texts), multi_label=True)
    assert model.predict(["a"]) == pytest.approx(np.array([[0.9, 0.8, 0.1]]))
    value = Engine(model).ask(Predict(Text.of("a"))).value(1)
    assert value == pytest.approx([np.log(0.8 / 0.2)])


def longer_first(pairs: list[tuple[str, str]]) -> list[float]:
    return [0.9 if len(first) > len(second) else 0.1 for first, second in pairs]


def test_pairs() -> None:
    model = assay.load(longer_first, labels=["no", "yes"])
    assert model.predict([("long text", "short"), ("a", "bb")])[:, 1] == pytest.approx([0.9, 0.1])
    told = assay.explain(model, ("aaa bbb", "ccccc"), "leave_one_out", target="yes")
    assert told.text.where == ("premise", "premise", "hypothesis")
    assert np.sign(told.scores).tolist() == [1, 1, 0]


def test_a_function_of_pairs_without_labels() -> None:
    """It cannot be asked with one text; the error says what to do."""
    with pytest.raises(AssayError, match="labels"):
        assay.load(longer_first)


def test_the_number_of_texts_at_once_is_bounded() -> None:
    sizes: list[int] = []

    def counted(texts: list[str]) -> list[list[float]]:
        sizes.append(len(texts))
        return [[0.5, 0.5]] * len(texts)

    model = assay.BlackBox(counted, labels=["no", "yes"], batch=4)
    model.predict([f"text {i}" for i in range(10)])
    assert sizes == [4, 4, 2]


def test_methods_that_need_gradients_name_those_that_work() -> None:
    assert InputGradient not in assay.load(goodness).answers
    with pytest.raises(assay.AssayError, match=r"InputGradient.*leave_one_out"):
        assay.explain(goodness, "a film", "gradient")


def decisions(texts: list[str]) -> list[float]:
    return [2.0 if "good" in text else -1.0 for text in texts]


def test_the_logit_of_one_decision_is_all_of_it() -> None:
    """Two columns, -z/2 and z/2, have the right probabilities, but z is the logit."""
    model = assay.BlackBox(decisions, labels=["no", "yes"], logits=True)
    answers = Engine(model).ask(Predict(Text.of("good"), Text.of("bad")))
    assert answers.value(1, "logit") == pytest.approx([2, -1])
    assert answers.value(0, "logit") == pytest.approx([-2, 1])
    for same in (answers.value(1), answers.value(1, "logit", against=0), answers[:].value(1, "logit")):
        assert same == pytest.approx([2, -1])
    assert model.predict(["good"])[0] == pytest.approx([1 / (1 + np.exp(2)), 1 / (1 + np.exp(-2))])
    told = assay.explain(model, "a good film", "leave_one_out", scalar="logit", target="yes")
    assert told.scores == pytest.approx([0, 3, 0])


def test_two_decisions_are_their_own_logits() -> None:
    model = assay.BlackBox(lambda texts: [[1.0, 4.0] for _ in texts], labels=["no", "yes"], logits=True)
    assert Engine(model).ask(Predict(Text.of("a"))).value(1, "logit") == pytest.approx([4])


def test_decisions_about_pairs_are_asked_for_with_a_pair() -> None:
    model = assay.BlackBox(lambda pairs: [len(a) - len(b) for a, b in pairs], labels=["no", "yes"], logits=True)
    assert Engine(model).ask(Predict(Text.of(("aaa", "b")))).value(1, "logit") == pytest.approx([2])


def test_decisions_that_change_their_shape_are_refused() -> None:
    answers = iter([np.zeros((1, 2)), np.zeros(1)])
    model = assay.BlackBox(lambda texts: next(answers), labels=["no", "yes"], logits=True)
    with pytest.raises(BadAnswer, match="1 dimensions, but other ones"):
        model.predict(["a"])


def test_two_labels_with_one_name_stay_apart() -> None:
    model = assay.load(lambda texts: [[0.2, 0.3, 0.5]] * len(texts), labels=["x", "y", "x"])
    assert model.labels == ("x (0)", "y", "x (2)")
    told = assay.explain(model, "a film", "random", target="x (2)")
    assert told.prediction == pytest.approx({"x (0)": 0.2, "y": 0.3, "x (2)": 0.5})
    assert told.target == 2
    assert "2 labels that are called 'x'; here they are 'x (0)', 'x (2)'" in " ".join(told.warnings)
    with pytest.raises(AssayError, match="label"):
        assay.explain(model, "a film", "random", target="x")
