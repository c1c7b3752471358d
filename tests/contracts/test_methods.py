"""What every method must hold, whoever wrote it; the methods are found in the registry."""

from __future__ import annotations

import json
import pickle
import random
import re
from copy import deepcopy
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from common import (
    BOUNDLESS,
    HARD,
    MODELS,
    REFUSED,
    TEXTS,
    differences,
    engine,
    fresh,
    opened,
    picture,
    printed,
    quick,
)

import assay
from assay.errors import AssayError, BadInput, Unanswerable
from assay.explanations.base import Explanation
from assay.explanations.case import Case
from assay.questions.erasers import Mask, Resample
from assay.registry.cards import MethodCard
from assay.registry.finding import methods
from assay.registry.parameters import parameters
from assay.registry.survey import Row, Uses

ALL = methods()
CARDS = {name: card for name, card in ALL.items() if card.reads is Case}
every_card = pytest.mark.parametrize("name", list(ALL))
every_method = pytest.mark.parametrize("name", list(CARDS))
every_model = pytest.mark.parametrize("model", list(MODELS))


def fits(name: str, model: Any) -> bool:
    return set(CARDS[name].needs) <= model.answers.keys()


def made(name: str, model: str, texts: list[Any], seed: int = 0, **settings: Any) -> list[Any]:
    """Explanations of a short run; the test is skipped where the model cannot answer."""
    adapter = settings.pop("adapter", None) or opened(model)
    if not fits(name, adapter):
        pytest.skip(f"{model} does not answer what {name} asks")
    here, settings = engine(adapter, settings.pop("budget", None)), quick(CARDS[name]) | settings
    return assay.explain(adapter, texts, name, engine=here, seed=seed, progress=False, **settings)  # type: ignore[no-any-return]


def close(one: Explanation, two: Explanation, tolerance: float = 1e-5) -> None:
    """The same words, and the same numbers but for rounding."""
    first, second = one.to_dict(), two.to_dict()
    assert first["words"] == second["words"]
    assert first["target"] == second["target"]
    assert numbers(first) == pytest.approx(numbers(second), abs=tolerance)


def numbers(told: dict[str, Any]) -> list[float]:
    """The scores, or whatever numbers the kind has besides what all kinds share."""
    shared = {"about", "facts", "prediction", "spans", "unseen", "explained", "text", "words", "fields", "warnings"}
    return [float(x) for key in sorted(set(told) - shared) for x in _leaves(told[key])]


def _leaves(value: Any) -> list[float]:
    if isinstance(value, bool | str) or value is None:
        return []
    if isinstance(value, int | float):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return [leaf for part in parts for leaf in _leaves(part)]


@every_card
def test_the_card_is_filled(name: str) -> None:
    card: MethodCard = ALL[name]
    module = import_module(card.make_from.__module__)
    assert card.name == name == module.__name__.rpartition(".")[2]
    assert card.title
    assert isinstance(card.row, Row)
    assert isinstance(card.uses, Uses)
    assert issubclass(card.returns, Explanation)
    assert card.make_from.__doc__
    assert set(card.marks) <= set("CDHM")


@every_card
def test_the_docstring_names_the_paper(name: str) -> None:
    card = ALL[name]
    said = import_module(card.make_from.__module__).__doc__ or ""
    assert card.summary == said.strip().splitlines()[0]
    assert re.search(r"\b(19|20)\d\d\b", said), "no year"
    assert card.paper in said, "the paper of the card"
    assert re.match(r"arXiv:\d{4}\.\d{4,5}$|doi:|https://", card.paper)


@every_card
def test_parameters_go_there_and_back(name: str) -> None:
    card = ALL[name]
    for thing in [card.make(), *others(card)]:
        told = parameters(thing)
        assert card.make(told) == thing
        assert card.make(json.loads(json.dumps(told))) == thing
        assert pickle.loads(pickle.dumps(thing)) == thing
        assert hash(thing) == hash(card.make(told))


def others(card: MethodCard) -> list[Any]:
    """The method with another eraser, where it has one."""
    erasers = (Mask(), Mask("_"), Resample("some/model")) if "eraser" in card.parameters else ()
    return [card.make({"eraser": eraser}) for eraser in erasers]


@every_card
def test_an_unknown_parameter_is_named(name: str) -> None:
    with pytest.raises(assay.AssayError, match=f"no parameter of {name} is called 'no_such'"):
        ALL[name].make({"no_such": 1})


@every_method
@every_model
def test_nothing_of_the_users_is_changed(name: str, model: str) -> None:
    adapter = fresh(model)
    before = picture(adapter)
    try:
        assay.explain(adapter, TEXTS[:4], name, engine=engine(adapter), progress=False, **quick(CARDS[name]))
    except Unanswerable:
        assert not fits(name, adapter)
    assert differences(before, picture(adapter)) == []


@every_method
def test_a_tokenizer_that_cuts_and_pads_stays_so(name: str) -> None:
    """Many saved tokenizers have truncation and padding switched on; they neither vanish nor change an answer."""
    if not fits(name, opened("bert")):
        pytest.skip(f"bert does not answer what {name} asks")
    model, tokenizer = tiny.bert()
    tokenizer = deepcopy(tokenizer)
    tokenizer.backend_tokenizer.enable_truncation(6)
    tokenizer.backend_tokenizer.enable_padding(length=8, pad_id=tokenizer.pad_token_id)
    before = tokenizer.backend_tokenizer.to_str()
    adapter = assay.load((model, tokenizer))
    (told,) = assay.explain(adapter, TEXTS[2:3], name, engine=engine(adapter), progress=False, **quick(CARDS[name]))
    assert tokenizer.backend_tokenizer.to_str() == before
    close(told, made(name, "bert", TEXTS[2:3])[0])


@cache
def alone(name: str, model: str, i: int) -> Any:
    """One text by itself, computed once for both budgets."""
    return made(name, model, [TEXTS[i]])[0]


@every_method
@every_model
@pytest.mark.parametrize("budget", [16, 4096])
def test_the_company_does_not_matter(name: str, model: str, budget: int) -> None:
    """Four texts in batches of a row or two, and all of them in full batches."""
    order = np.random.default_rng(1).permutation(len(TEXTS))[: 4 if budget == 16 else None]
    together = made(name, model, [TEXTS[i] for i in order], budget=budget, adapter=MODELS[model]())
    for i, told in zip(order, together, strict=True):
        close(told, alone(name, model, i))


@every_method
@every_model
def test_the_same_seed_gives_the_same_answer(name: str, model: str) -> None:
    one = made(name, model, TEXTS[:4], seed=3, adapter=MODELS[model]())
    random.random()
    np.random.random()
    torch.rand(1)
    two = made(name, model, TEXTS[:4], seed=3, adapter=MODELS[model]())
    assert [numbers(told.to_dict()) for told in one] == [numbers(told.to_dict()) for told in two]


def shortened(text: Any) -> Any:
    """Where there is no window, 150 words show it as well as 2,000, in a fraction of the time."""
    return " ".join(text.split()[:150]) if isinstance(text, str) and len(text) > 1000 else text


@every_method
@every_model
@pytest.mark.parametrize("hard", list(HARD))
def test_hard_texts_give_a_result_or_a_named_error(name: str, model: str, hard: str) -> None:
    if hard in REFUSED:
        with pytest.raises(BadInput, match="text"):
            made(name, model, [HARD[hard]])
        return
    (told,) = made(name, model, [shortened(HARD[hard]) if model in BOUNDLESS else HARD[hard]])
    assert np.isfinite(numbers(told.to_dict())).all()
    assert len(told.words) == len(told.spans) > 0
    assert told.truncated == (hard == "2,000 words" and model not in BOUNDLESS)


@every_method
@every_model
def test_one_bad_text_does_not_spoil_the_others(name: str, model: str) -> None:
    adapter = opened(model)
    if not fits(name, adapter):
        pytest.skip("cannot answer")
    outcomes = list(
        assay.stream(
            adapter, ["a funny film", "", "\ud800", "dull"], name, engine=engine(adapter), **quick(CARDS[name])
        )
    )
    assert [isinstance(outcome.error, AssayError) for outcome in outcomes] == [False, True, True, False]


@every_method
@every_model
def test_a_model_that_cannot_answer_says_what_works(name: str, model: str) -> None:
    adapter, card = opened(model), CARDS[name]
    if fits(name, adapter):
        pytest.skip("it can")
    with pytest.raises(Unanswerable) as error:
        assay.explain(adapter, "a funny film", name)
    fit = [other for other, its in CARDS.items() if its.row == card.row and set(its.needs) <= adapter.answers.keys()]
    assert all(other in str(error.value) for other in fit)
    assert fit or "No method of its kind works with such a model" in str(error.value)


@every_method
@every_model
def test_explanations_save_and_load(name: str, model: str) -> None:
    for text in (TEXTS[3], ("a man sleeps", "a man"), "a dull film " * 30):
        (told,) = made(name, model, [text])
        back = type(told).from_json(told.to_json())
        assert back.to_dict() == told.to_dict()
        assert back.words == told.words
        assert pickle.loads(pickle.dumps(told)).to_dict() == told.to_dict()


@every_method
@every_model
def test_where_it_comes_from(name: str, model: str) -> None:
    (told,) = made(name, model, TEXTS[:1], seed=5)
    about = told.about
    assert (about.method, about.seed) == (name, 5)
    assert CARDS[name].make(about.parameters) == CARDS[name].make(quick(CARDS[name]))
    assert about.labels == opened(model).labels
    assert sum(told.prediction.values()) == pytest.approx(1)
    assert about.cost.sequences == about.cost.forwards + about.cost.hits > 0
    assert about.versions["assay"]


@every_method
@every_model
def test_views_render(name: str, model: str) -> None:
    views = pytest.importorskip("assay.views")
    terminal = pytest.importorskip("assay.views.terminal")
    nasty = 'a <script>alert("x")</script> & film'
    told = made(name, model, [nasty, ("a man", "a <b>dog</b>")])
    for html in (views.page(told), views.fragment(told[0]), told[0].to_html(), told[0]._repr_html_()):
        assert "film" in html
        assert "<script>alert" not in html
        assert "<b>dog" not in html
    shown = printed(terminal.explained(told[:1]))
    assert all(word in shown for word in ("film", "script", CARDS[name].title))
