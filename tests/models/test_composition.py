"""Models by composition: a table of handlers, shallow classes, and architectures of other distributions."""

from __future__ import annotations

import pickle
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tiny
import unusual

import assay
from assay.engine.engine import Engine
from assay.errors import Unanswerable
from assay.models import architecture as architectures
from assay.models.architecture import Architecture
from assay.models.base import Handler, TextModel
from assay.models.own.attentive import AttentiveConfig, AttentiveForSequenceClassification
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.tasks.base import Task
from assay.models.transformers.tasks.classifier import Classifier
from assay.questions.base import Aim, Question, Speaker
from assay.questions.gradients import InputGradient
from assay.questions.inside import Attention, Relevance, ValueZeroing
from assay.text.text import Text

PAIRS: dict[str, Any] = {
    "bert": tiny.bert,
    "gpt2": tiny.gpt2,
    "slow": tiny.slow,
    "attentive": tiny.attentive,
    "masked_lm": tiny.masked_lm,
    "causal_lm": tiny.causal_lm,
    "seq2seq": tiny.seq2seq,
    "token_tagger": tiny.token_tagger,
}
every_model = pytest.mark.parametrize("name", list(PAIRS))


def subclasses(kind: type[Any]) -> list[type[Any]]:
    return [one for child in kind.__subclasses__() for one in (child, *subclasses(child))]


@pytest.mark.parametrize("kind", [TextModel, Task, Handler])
def test_no_class_inherits_through_more_than_two_of_ours(kind: type[Any]) -> None:
    assay.load(tiny.attentive())  # so that every handler is imported
    ours = [one for one in subclasses(kind) if one.__module__.startswith("assay.")]
    assert ours
    for one in ours:
        above = [base for base in one.__mro__[1:] if base.__module__.startswith("assay.")]
        assert len(above) <= 2, one


INSIDE: set[type[Question]] = {InputGradient, Attention, Relevance, ValueZeroing}


@every_model
def test_what_it_cannot_be_asked_has_a_reason(name: str) -> None:
    model = assay.load(PAIRS[name]())
    lacks = INSIDE - set(model.answers)
    assert lacks <= set(model.missing)
    assert not set(model.missing) & set(model.answers)
    for question in lacks:
        with pytest.raises(Unanswerable, match=re.escape(model.missing[question][:60])):
            Engine(model).ask(_asked(question))


def _asked(question: Any) -> Any:
    text = Text.of("a good film")
    return question(text, aim=Aim(1)) if question in (InputGradient, Relevance) else question(text)


def test_the_reasons_name_what_is_missing() -> None:
    """Gradients need a tokenizer that says where its pieces stand, value zeroing an attention that can be replaced."""
    slow, xlnet = assay.load(tiny.slow()), assay.load(unusual.MODELS["xlnet"]())
    assert "does not say where its pieces stand" in slow.missing[InputGradient]
    assert "a classifier" in slow.missing[InputGradient]
    with pytest.raises(Unanswerable, match="XLNetForSequenceClassification has no attention that transformers lets"):
        assay.explain(xlnet, "a good film", "value_zeroing")


@every_model
def test_answers_is_a_table_of_handlers(name: str) -> None:
    model = assay.load(PAIRS[name]())
    assert all(issubclass(question, Question) for question in model.answers)
    assert all(isinstance(handler, Handler) for handler in model.answers.values())
    again = pickle.loads(pickle.dumps(model))
    assert again.answers.keys() == model.answers.keys()
    derived = model.derived("randomized:head:0")
    assert derived.answers.keys() == model.answers.keys()
    assert {*map(type, derived.answers.values())} == {*map(type, model.answers.values())}


def test_a_cut_model_has_one_handler_less_and_the_model_keeps_all() -> None:
    model = assay.load(tiny.bert())
    before = set(model.answers)
    assert before - set(model.derived("cut_attention").answers) == {Relevance}
    assert set(model.answers) == before


def test_half_precision_has_the_handlers_of_its_reference() -> None:
    low = assay.load(tiny.bert(), dtype="bf16")
    assert isinstance(low, TextModel)
    assert not isinstance(low, HuggingFace)
    assert low.answers is low.reference.answers  # type: ignore[attr-defined]
    assert low.bytes == low.reference.bytes  # type: ignore[attr-defined]
    assert not low.side_by_side


class Letters(Question):
    """A new question: how many letters the model's name for each label has."""

    def rows(self, model: Speaker) -> Sequence[str]:
        return ["letters"]

    def assemble(self, values: Sequence[Any], model: Speaker) -> list[float]:
        return list(values[0])


class LettersHandler(Handler[TextModel]):
    def encode(self, model: TextModel, rows: Sequence[Any]) -> Sequence[Any]:
        return rows

    def answer(self, model: TextModel, batch: Sequence[Any]) -> Any:
        return [np.array([float(len(label)) for label in model.labels])] * len(batch)


def test_a_new_question_is_a_handler_and_a_line_in_the_table() -> None:
    model = assay.load(tiny.bert())
    with pytest.raises(Unanswerable, match="cannot answer Letters"):
        Engine(model).ask(Letters())
    model.answers = {**model.answers, Letters: LettersHandler()}
    assert Engine(model).ask(Letters()) == [len(label) for label in model.labels]


class OtherConfig(AttentiveConfig):
    model_type = "other_attentive"


class OtherForSequenceClassification(AttentiveForSequenceClassification):
    config_class = OtherConfig


class Named(Classifier):
    """A task of another distribution."""

    def __init__(self, network: Any, fields: Sequence[str] = ()) -> None:
        super().__init__(network, ("headline",))


OTHER = Architecture(
    config=OtherConfig, network=OtherForSequenceClassification, purpose="SequenceClassification", task=Named
)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The architecture as if another distribution named it."""
    found = type("Entry", (), {"load": staticmethod(lambda: OTHER)})
    monkeypatch.setattr(architectures, "entry_points", lambda group, name: [found] if name == "other_attentive" else [])
    architectures.architecture.cache_clear()


@pytest.mark.usefixtures("installed")
def test_an_architecture_of_another_distribution(tmp_path: Any) -> None:
    bare, tokenizer = tiny.attentive()
    config = OtherConfig(**{k: v for k, v in bare.config.to_dict().items() if k != "model_type"})
    network = tiny.seeded(lambda: OtherForSequenceClassification(config))
    model = assay.load((network, tokenizer))
    assert model.fields == ("headline",)
    assert Attention not in model.answers  # it brings no handler of its own, and has no layers of attention
    for part in (network, tokenizer):
        part.save_pretrained(tmp_path)
    again = assay.load(str(tmp_path))
    assert type(again.model) is OtherForSequenceClassification  # type: ignore[attr-defined]
    np.testing.assert_allclose(again.predict(["a film"]), model.predict(["a film"]), atol=1e-6)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).predict(["a film"]), model.predict(["a film"]))
    assert assay.explain(model, Text.of("a film"), "leave_one_out").words == ("a", "film")
    architectures.architecture.cache_clear()
