"""Once: what many conversations need is worked out by one of them, for each key and model."""

from __future__ import annotations

import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.questions import Conversation, Once, Predict, elsewhere
from assay.text.text import Text


def test_a_key_is_worked_out_once_and_the_first_bears_the_cost() -> None:
    led = []

    def work() -> Conversation[float]:
        led.append(1)
        answers = yield Predict(Text.of("a funny film"))
        return float(answers.probabilities[0, 0])

    def talk(key: str) -> Conversation[float]:
        return (yield Once(key, work))

    engine = Engine(assay.load(tiny.bert()))
    outcomes = list(engine.run([talk("a"), talk("a"), talk("b"), talk("a")]))
    assert len({outcome.get() for outcome in outcomes}) == 1
    assert len(led) == 2
    assert [outcome.cost.sequences for outcome in outcomes] == [1, 0, 1, 0]
    assert next(engine.run([talk("a")])).cost.sequences == 0
    other = next(engine.run([elsewhere(talk("a"), "@randomized:head:0")])).get()
    assert other != outcomes[0].get()
    assert len(led) == 3


def test_an_error_is_everybodys_and_is_not_kept() -> None:
    tries = []

    def work() -> Conversation[int]:
        tries.append(1)
        if len(tries) < 3:
            raise BadInput("not yet")
        return len(tries)
        yield

    def talk() -> Conversation[int]:
        return (yield Once("key", work))

    engine = Engine(assay.load(tiny.bert()))
    for outcome in engine.run([talk(), talk()]):
        with pytest.raises(BadInput, match="not yet"):
            outcome.get()
    assert next(engine.run([talk()])).get() == 3


def test_a_checkpoint_is_one_of_the_model_that_is_asked() -> None:
    asked = Predict(Text.of("a")).sent_to("@checkpoint:2")
    assert asked.sent_to("@trained:abc").model == "@trained:abc@checkpoint:2"
    assert asked.sent_to("mlm").model == "@checkpoint:2"
    assert Predict(Text.of("a")).sent_to("@randomized:head:0").sent_to("@trained:abc").model == "@randomized:head:0"
