"""The bundled writer stays open for the next engine, and no other model does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy

import pytest
import tiny

import assay
from assay.engine import models
from assay.engine.engine import Engine
from assay.models import TextModel, held


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names that were opened, each as a model of its own."""
    names: list[str] = []

    def load(name: str) -> TextModel:
        names.append(name)
        return assay.load(deepcopy(tiny.causal_lm("gpt2")))

    monkeypatch.setattr(models, "load", load)
    held.forget()
    yield names
    held.forget()


def engine() -> Engine:
    return Engine(assay.load(deepcopy(tiny.bert())), resolve=models.load)


def test_the_writer_is_opened_once_for_several_engines(asked: list[str]) -> None:
    first, second = (engine().models["writer:explainer"] for _ in range(2))
    assert first is second
    assert asked == ["writer:explainer"]
    held.forget()
    assert engine().models["writer:explainer"] is not first


def test_one_writer_is_held_and_no_other_model(asked: list[str]) -> None:
    for name in ("writer:explainer", "writer", "writer:explainer", "mlm", "mlm", "writers"):
        engine().models[name]
    assert asked == ["writer:explainer", "writer", "writer:explainer", "mlm", "mlm", "writers"]


@pytest.mark.parametrize("variable", ["ASSAY_WRITER", "ASSAY_CACHE"])
def test_another_base_is_another_writer(variable: str, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    first = engine().models["writer"]
    monkeypatch.setenv(variable, "another place")
    assert engine().models["writer"] is not first


def test_what_the_user_resolves_is_asked_for_each_time(asked: list[str]) -> None:
    other: Callable[[str], TextModel] = lambda name: models.load(name)  # noqa: E731
    found = [Engine(assay.load(tiny.bert()), resolve=other).models["writer"] for _ in range(2)]
    assert found[0] is not found[1]
    assert asked == ["writer", "writer"]


def test_a_writer_that_cannot_be_opened_is_tried_again(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(name: str) -> TextModel:
        raise OSError("no base")

    usual = models.load
    monkeypatch.setattr(models, "load", fails)
    with pytest.raises(OSError, match="no base"):
        engine().models["writer"]
    monkeypatch.setattr(models, "load", usual)
    engine().models["writer"]
    assert asked == ["writer"]
