"""A conversation led with another model: who is asked, and that answers, errors and results come through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput, Unanswerable
from assay.models import BlackBox
from assay.questions.base import Conversation, elsewhere
from assay.questions.fill import Fill
from assay.questions.inside import Depth
from assay.questions.predict import Predict
from assay.text.text import Text
from assay.text.variants import Variants

TEXT = Text.of("a funny film")


def test_questions_that_name_no_model_are_sent_there() -> None:
    hole = Variants(TEXT, np.array([[True, False, True]]))

    def conversation() -> Conversation[list[Any]]:
        return [(yield Predict(TEXT)), (yield Fill(hole, model="mlm"))]

    talk = elsewhere(conversation(), "@x")
    first = next(talk)
    assert (type(first), first.model) == (Predict, "@x")
    second = talk.send("one")
    assert (type(second), second.model) == (Fill, "mlm")
    with pytest.raises(StopIteration) as stop:
        talk.send("two")
    assert stop.value.value == ["one", "two"]


def test_the_question_itself_is_not_changed() -> None:
    question = Predict(TEXT)

    def conversation() -> Conversation[Any]:
        return (yield question)

    assert next(elsewhere(conversation(), "@x")) is not question
    assert question.model is None


def test_errors_reach_the_conversation() -> None:
    def conversation() -> Conversation[str]:
        try:
            yield Predict(TEXT)
        except Unanswerable:
            return "caught"
        return "answered"

    talk = elsewhere(conversation(), "@x")
    next(talk)
    with pytest.raises(StopIteration) as stop:
        talk.throw(Unanswerable("no"))
    assert stop.value.value == "caught"


def test_the_engine_asks_the_derived_model() -> None:
    model = assay.load(tiny.bert())
    engine = Engine(model)

    def asked(where: str | None) -> np.ndarray:
        def conversation() -> Conversation[Any]:
            return (yield Predict(TEXT))

        talk = conversation() if where is None else elsewhere(conversation(), where)
        return np.asarray(next(engine.run([talk])).get().logits[0])

    spec = "randomized:head:3"
    there = model.derived(spec)
    assert asked(f"@{spec}") == pytest.approx(np.asarray(Engine(there).ask(Predict(TEXT)).logits[0]), abs=1e-6)
    assert asked(f"@{spec}") != pytest.approx(asked(None), abs=1e-3)
    assert asked(None) == pytest.approx(np.asarray(Engine(model).ask(Predict(TEXT)).logits[0]), abs=1e-6)


def test_models_without_layers_say_so() -> None:
    box = BlackBox(lambda texts: np.full(len(texts), 0.5), labels=["a", "b"], name="box")
    with pytest.raises(Unanswerable, match="box has no layers"):
        box.derived("randomized:head:0")
    with pytest.raises(Unanswerable, match="cannot answer Depth"):
        Engine(box).ask(Depth())


@pytest.mark.parametrize(
    "spec", ["", "head:0", "randomized", "randomized:tail:0", "randomized:head", "randomized:head:x"]
)
def test_a_wrong_specification_is_one_sentence(spec: str) -> None:
    with pytest.raises(BadInput, match="no way to derive a model"):
        assay.load(tiny.bert()).derived(spec)
