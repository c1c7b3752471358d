"""What every check must hold, whoever wrote it; the checks are found in the registry."""

from __future__ import annotations

import json
import pickle
import re
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from common import (
    BOUNDLESS,
    HARD,
    MODELS,
    NEEDED,
    REFUSED,
    TEXTS,
    differences,
    engine,
    fresh,
    opened,
    picture,
    printed,
)

import assay
from assay.errors import BadInput, Unanswerable
from assay.explanations.base import Explanation
from assay.explanations.edits import Edits
from assay.explanations.rationale import Rationale
from assay.explanations.text_explanation import TextExplanation
from assay.explanations.token_scores import TokenScores
from assay.questions.erasers import Mask, Resample
from assay.registry.cards import CheckCard
from assay.registry.finding import checks, methods
from assay.registry.parameters import parameters
from assay.registry.sample_task import examines_sample
from assay.statistics.verdict import Verdict

ALL = {name: card for name, card in checks().items() if not examines_sample(card)}
CARDS = {name: card for name, card in ALL.items() if issubclass(card.reads, TextExplanation)}
every_card = pytest.mark.parametrize("name", list(ALL))
every_check = pytest.mark.parametrize("name", list(CARDS))
every_model = pytest.mark.parametrize("model", list(MODELS))
ORDER = np.random.default_rng(1).permutation(len(TEXTS))


def reads(name: str, model: Any) -> Any:
    """A method that is not random, works with the model, and returns what the check reads; with all that it needs."""
    fit = [
        method
        for method, card in methods().items()
        if issubclass(card.returns, CARDS[name].reads)
        and set(card.needs) <= model.answers.keys()
        and method != "random"
    ]
    if not fit:
        pytest.skip(f"no method that {name} reads works with {model.name}")
    # Of the methods that return edits, some return a path, of which there are no random ones.
    chosen = next((cheap for cheap in ("leave_one_out", "hotflip", "tracin") if cheap in fit), fit[0])
    if CARDS[name].reads is Edits and chosen != "hotflip":
        pytest.skip("no method for this model returns versions of a text")
    if CARDS[name].reads is Rationale:
        return methods()["cage"].make({"max_tokens": 6, "others": 1})
    return methods()[chosen].make(NEEDED.get(chosen, {}))


def given(name: str) -> Any:
    """The check, with what it cannot do without."""
    return CARDS[name].make(NEEDED.get(name, {}))


def verdict(name: str, model: str, texts: list[Any], **settings: Any) -> Verdict:
    adapter = settings.pop("adapter", None) or opened(model)
    if not set(CARDS[name].needs) <= adapter.answers.keys():
        pytest.skip(f"{model} does not answer what {name} asks")
    here = engine(adapter, settings.pop("budget", None))
    (told,) = assay.check(
        adapter,
        texts,
        [reads(name, adapter)],
        [given(name)],
        engine=here,
        progress=False,
        **{"draws": 3, **settings},
    )
    return told


@every_card
def test_the_card_is_filled(name: str) -> None:
    card: CheckCard = ALL[name]
    module = import_module(card.make_from.__module__)
    assert card.name == name == module.__name__.rpartition(".")[2]
    assert card.title
    assert card.sensitive_to
    assert card.better in ("higher", "lower")
    assert issubclass(card.reads, Explanation)
    assert card.make_from.__doc__


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
    erasers = (Mask(), Mask("_"), Resample("some/model")) if "eraser" in card.parameters else ()
    for thing in [card.make(), *(card.make({"eraser": eraser}) for eraser in erasers)]:
        told = parameters(thing)
        assert card.make(told) == thing
        assert card.make(json.loads(json.dumps(told))) == thing
        assert pickle.loads(pickle.dumps(thing)) == thing


@every_card
def test_an_unknown_parameter_is_named(name: str) -> None:
    with pytest.raises(assay.AssayError, match=f"no parameter of {name} is called 'no_such'"):
        ALL[name].make({"no_such": 1})


@every_check
@every_model
def test_nothing_of_the_users_is_changed(name: str, model: str) -> None:
    adapter = fresh(model)
    if not set(CARDS[name].needs) <= adapter.answers.keys():
        pytest.skip(f"{model} does not answer what {name} asks")
    before = picture(adapter)
    here = engine(adapter)
    assay.check(adapter, TEXTS[:4], [reads(name, adapter)], [given(name)], engine=here, draws=2, progress=False)
    assert differences(before, picture(adapter)) == []


@cache
def alone(name: str, model: str, i: int) -> Verdict:
    """One text by itself, computed once for both budgets."""
    return verdict(name, model, [TEXTS[i]])


@cache
def whole(name: str, model: str) -> Verdict:
    """All texts together, in another order, asked of a model that nobody has asked before."""
    return verdict(name, model, [TEXTS[i] for i in ORDER], adapter=MODELS[model]())


@every_check
@every_model
@pytest.mark.parametrize("budget", [16, None])
def test_the_company_does_not_matter(name: str, model: str, budget: int | None) -> None:
    """Four texts in batches of a row or two, and all of them in full batches."""
    order = ORDER if budget is None else ORDER[:4]
    if name == "simulatability":
        pytest.skip("its simulator learns from the other texts")
    if CARDS[name].reads is Rationale and model in ("roberta", "attentive"):
        pytest.skip("the writer is the same one, whichever model it writes about")
    few = [TEXTS[i] for i in order]
    together = whole(name, model) if budget is None else verdict(name, model, few, budget=budget)
    for place, i in enumerate(order):
        close(together.scores[place], alone(name, model, i).scores[0], name)
        if CARDS[name].reads is not Rationale:  # a random rationale is that of another text of the set
            close(together.random_scores[place], alone(name, model, i).random_scores[0], name)


def close(one: Any, two: Any, name: str) -> None:
    """To 1e-5; quotients and squares relative to their size."""
    size = {"completeness": 1e-3, "infidelity": 2e-5, "sensitivity": 2e-5}.get(name, 1e-6)
    assert one == pytest.approx(two, abs=1e-5, rel=size)


@every_check
@every_model
def test_the_same_seed_gives_the_same_verdict(name: str, model: str) -> None:
    one, two = (verdict(name, model, TEXTS[:5], seed=4, adapter=MODELS[model]()).to_dict() for _ in range(2))
    assert one == two
    assert verdict(name, model, TEXTS[:5], seed=5).random_scores.tolist() != one["scores"]


@every_check
@every_model
@pytest.mark.parametrize("hard", list(HARD))
def test_hard_texts_give_a_verdict_or_a_named_error(name: str, model: str, hard: str) -> None:
    if hard in REFUSED:
        with pytest.raises(BadInput, match="text"):
            verdict(name, model, [HARD[hard], "a funny film"], draws=2)
        return
    if CARDS[name].reads is Rationale and model in ("roberta", "attentive"):
        pytest.skip("the writer is the same one, whichever model it writes about")
    if model in BOUNDLESS and hard == "2,000 words":
        pytest.skip("this model has no window: the same questions as for short texts, only slower")
    told = verdict(name, model, [HARD[hard], "a funny film"], draws=2)
    assert np.isfinite(told.scores).all()
    assert np.isfinite(told.random_scores).all()
    cut = hard == "2,000 words"
    assert any("truncated: 1 of 2" in said for said in told.warnings) == cut


@every_check
@every_model
def test_a_verdict_is_never_a_bare_number(name: str, model: str) -> None:
    told = whole(name, model)
    data = json.loads(json.dumps(told.to_dict()))
    for key in ("method", "check", "mean", "interval", "random", "p_value", "better", "warnings"):
        assert key in data
    assert data["interval"][0] <= data["interval"][1]
    assert 0 < data["p_value"] <= 1
    assert data["better"] == CARDS[name].better
    assert told.scores.shape == (len(TEXTS),)
    assert told.random_scores.shape == (len(TEXTS), 3)


@every_check
def test_the_same_eraser_is_said(name: str) -> None:
    if "eraser" not in CARDS[name].parameters:
        pytest.skip("takes nothing away")
    adapter, here = opened("bert"), engine(opened("bert"))
    for method_eraser, check_eraser in (("delete", "delete"), ("mask", "delete"), ("mask", "mask")):
        method = methods()["leave_one_out"].make({"eraser": method_eraser})
        check = CARDS[name].make({"eraser": check_eraser})
        (told,) = assay.check(adapter, TEXTS[:2], [method], [check], engine=here, draws=2, progress=False)
        assert any("same eraser" in said for said in told.warnings) == (method_eraser == check_eraser)


@every_check
def test_a_model_that_answers_nothing_cannot_be_checked(name: str) -> None:
    silent = MODELS["bert"]()
    method = "random" if issubclass(TokenScores, CARDS[name].reads) else reads(name, silent)
    silent.answers = {}
    with pytest.raises(Unanswerable):
        assay.check(silent, ["a film"], [method], [given(name)])


@every_check
def test_views_render(name: str) -> None:
    views = pytest.importorskip("assay.views")
    terminal = pytest.importorskip("assay.views.terminal")
    adapter = opened("bert")
    method = reads(name, adapter)
    told = assay.explain(adapter, ["a <i>funny</i> film"], method, engine=engine(adapter), progress=False)
    found = [verdict(name, "bert", TEXTS[:3])]
    html, shown = views.page(told, found), printed(terminal.verdict_table(found))
    assert CARDS[name].title.lower() in html.lower()
    assert CARDS[name].title.lower() in shown.lower()
    assert "<i>funny" not in html
