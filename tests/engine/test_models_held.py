"""Models by name: held by bytes, the least used dropped; never more than three of the explained model's size."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any
from weakref import WeakSet

import numpy as np
import pytest
import tiny
import transformers as hf
from test_engine import lexicon, sentences

import assay
from assay.engine.engine import Engine
from assay.engine.models import Models
from assay.models import BlackBox, TextModel
from assay.questions import Conversation, Predict, elsewhere
from assay.text.text import Text

TEXT = Text.of("a good film")


@pytest.fixture(autouse=True)
def _small_heap() -> Iterator[None]:
    """Collections look only at what a test makes; to look at what others left in this process takes half a second."""
    gc.freeze()
    yield
    gc.unfreeze()


class Sized(BlackBox):
    """A model of so many bytes that makes others like it."""

    def __init__(self, name: str, size: int, alive: WeakSet[Sized]) -> None:
        super().__init__(lexicon, labels=["n", "p"], name=name)
        self.size, self.alive = size, alive
        alive.add(self)

    @property
    def bytes(self) -> int:
        return self.size

    def derived(self, spec: str) -> TextModel:
        return Sized(spec, self.size, self.alive)


def test_the_least_used_goes_first_and_before_the_next_is_made() -> None:
    alive: WeakSet[Sized] = WeakSet()
    models = Models(Sized("base", 100, alive), assay.load, assay.load)
    for name in ("@a", "@b", "@a", "@c"):
        assert models[name].name == name[1:]
        gc.collect()
        assert len(alive) <= 3
    assert {one.name for one in alive} == {"base", "a", "c"}
    assert models.facts("@b").name == "b"


def test_facts_outlive_the_model() -> None:
    alive: WeakSet[Sized] = WeakSet()
    models = Models(Sized("base", 100, alive), assay.load, assay.load)
    kept = {name: models.facts(name) for name in ("@a", "@b", "@c", "@d")}
    gc.collect()
    assert len(alive) == 3
    assert models.facts("@a") is kept["@a"]
    assert len(alive) == 3


def test_models_by_other_names_have_a_budget_of_their_own() -> None:
    alive: WeakSet[Sized] = WeakSet()
    opened = []

    def resolve(name: str) -> TextModel:
        opened.append(name)
        return Sized(name, 3 << 30, alive)

    models = Models(Sized("base", 100, alive), resolve, assay.load)
    for name in ("one", "one", "two", "one"):
        assert models[name].name == name
    assert opened == ["one", "two", "one"]


def test_texts_at_several_models_wait_for_their_turn() -> None:
    """Ten texts ask eight derived models in different orders: each model is made a few times, not for every text."""
    alive: WeakSet[Sized] = WeakSet()
    made: list[str] = []

    class Base(Sized):
        def derived(self, spec: str) -> TextModel:
            made.append(spec)
            return super().derived(spec)

    def talk(i: int) -> Conversation[int]:
        for j in range(8):
            yield from elsewhere(one(f"{i} {j}"), f"@m{(i + j) % 8}")
        return i

    def one(text: str) -> Conversation[Any]:
        return (yield Predict(Text.of(text)))

    engine = Engine(Base("base", 100, alive))
    most = 0
    for i, outcome in enumerate(engine.run(talk(i) for i in range(10))):
        assert outcome.get() == i
        gc.collect()
        most = max(most, len(alive))
    assert most <= 3
    assert len(made) < 40  # 80 if every question made its model anew


def six_layers() -> tuple[Any, Any]:
    tokenizer = tiny.wordpiece()
    config = hf.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=6,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        num_labels=3,
    )
    return tiny.seeded(lambda: hf.BertForSequenceClassification(config)), tokenizer


@pytest.mark.parametrize("method", ["leave_one_out", "input_x_gradient"])
def test_randomization_over_all_layers_holds_three_models_at_most(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alive: WeakSet[Any] = WeakSet()
    most = 0
    plain = hf.BertForSequenceClassification.forward

    def counting(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal most
        alive.add(self)
        most = max(most, len(alive))
        return plain(self, *args, **kwargs)

    monkeypatch.setattr(hf.BertForSequenceClassification, "forward", counting)
    model = assay.load(six_layers())
    made = set()
    derive = type(model).derived

    def noted(self: Any, spec: str) -> Any:
        made.add(spec)
        return derive(self, spec)

    monkeypatch.setattr(type(model), "derived", noted)
    assay.check(model, sentences(3), [method], ["randomization"], draws=2, progress=False)
    assert len(made) == 7 * 3  # the head alone and each of six layers more, three seeds each
    assert most <= 3


def test_answers_of_derived_models_are_the_same_however_often_they_were_dropped() -> None:
    model = assay.load(tiny.bert())
    names = [f"@randomized:head:{seed}" for seed in range(5)]

    def asked(name: str) -> Conversation[Any]:
        def one() -> Conversation[Any]:
            return (yield Predict(TEXT))

        return (yield from elsewhere(one(), name)).logits[0]

    engine = Engine(model)
    first = [outcome.get() for outcome in engine.run(asked(name) for name in names)]
    again = [outcome.get() for outcome in Engine(model).run(asked(name) for name in reversed(names))]
    np.testing.assert_allclose(first, again[::-1], atol=1e-6)
