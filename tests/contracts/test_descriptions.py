"""What every method that describes a sample must hold, and every check of such descriptions, whoever wrote them."""

from __future__ import annotations

import json
import pickle
import random
from typing import Any

import numpy as np
import pytest
import torch
from common import MODELS, TEXTS, differences, engine, fresh, opened, picture, printed, quick

import assay
from assay.errors import BadInput, Unanswerable
from assay.explanations.base import Explanation
from assay.explanations.sample_explanation import SampleExplanation
from assay.registry.finding import checks, methods
from assay.text.sample import Sample
from assay.views import descriptions

CARDS = {name: card for name, card in methods().items() if card.reads is Sample}
CHECKS = {name: card for name, card in checks().items() if issubclass(card.reads, SampleExplanation)}
every_method = pytest.mark.parametrize("name", list(CARDS))
every_check = pytest.mark.parametrize("check", list(CHECKS))
every_model = pytest.mark.parametrize("model", list(MODELS))
PAIRED = {"natural_indirect_effect"}  # methods that read pairs of texts, of which the second is a changed first
INNER: dict[str, dict[str, Any]] = {  # a short run
    "sp_lime": {"of": "lime:samples=64", "picks": 3},
    "universal_triggers": {"length": 2, "search": 3, "beam": 1, "candidates": 3, "rounds": 1, "random": 2},
    "compositional_neurons": {"least": 1, "features": 20, "rules": 4},
    "sear": {"of": "sea:samples=12,similar=-1.0", "flips": 1, "rules": 3},
}


def given(name: str, texts: Any = None) -> Any:
    """The texts as this method reads them."""
    chosen = TEXTS if texts is None else texts
    if name not in PAIRED:
        return chosen
    # Behind a first word, as some tokenizers spell the first word of a text otherwise: both have as many pieces.
    words = [text.split() for text in chosen]
    return [((" ".join(["so", *one]), " ".join(["so", *one[::-1]])), None) for one in words]


def few(name: str) -> Any:
    """For checks that ask the model again for every random description."""
    return given(name, TEXTS[:4]) if name in PAIRED else given(name)


def made(name: str, model: str, sample: Any = None, seed: int = 0, budget: int | None = None) -> Any:
    adapter = opened(model)
    if not set(CARDS[name].needs) <= adapter.answers.keys():
        pytest.skip(f"{model} does not answer what {name} asks")
    settings = quick(CARDS[name]) | INNER.get(name, {})
    here = engine(adapter, budget)
    return assay.describe(adapter, sample or given(name), name, engine=here, seed=seed, progress=False, **settings)


def plain(e: Explanation) -> dict[str, Any]:
    """All that was found; what it cost depends on the company."""
    data = json.loads(e.to_json())
    return {key: value for key, value in data.items() if key not in ("about", "maps")}


def close(one: Any, two: Any) -> None:
    """The same, but for rounding."""
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        for key in one:
            close(one[key], two[key])
    elif isinstance(one, list):
        assert len(one) == len(two)
        for a, b in zip(one, two, strict=True):
            close(a, b)
    else:
        assert one == (pytest.approx(two, abs=1e-5) if isinstance(one, float) else two)


@every_method
def test_the_card_says_what_it_reads(name: str) -> None:
    assert CARDS[name].reads is Sample
    assert not hasattr(CARDS[name].make_from, "explain")


@every_method
@every_model
def test_descriptions_save_and_load(name: str, model: str) -> None:
    e = made(name, model)
    for back in (type(e).from_json(e.to_json()), Explanation.from_json(e.to_json()), pickle.loads(pickle.dumps(e))):
        assert type(back) is type(e)
        assert back.to_dict() == e.to_dict()


@every_method
@every_model
def test_the_company_does_not_matter(name: str, model: str) -> None:
    """Alone, in an engine that has answered other questions, and in other batches."""
    alone = plain(made(name, model))  # skips where the model cannot answer
    close(plain(made(name, model, budget=16)), alone)
    adapter = MODELS[model]()
    here = engine(adapter)
    assay.explain(adapter, list(reversed(TEXTS)), "leave_one_out", engine=here, progress=False)
    settings = quick(CARDS[name]) | INNER.get(name, {})
    close(plain(assay.describe(adapter, given(name), name, engine=here, progress=False, **settings)), alone)


@every_method
@every_model
def test_two_conversations_in_one_engine_give_what_each_gives_alone(name: str, model: str) -> None:
    adapter = opened(model)
    if not set(CARDS[name].needs) <= adapter.answers.keys():
        pytest.skip("cannot answer")
    method = CARDS[name].make(quick(CARDS[name]) | INNER.get(name, {}))
    halves = [Sample.of(given(name, TEXTS[:6]), name="one"), Sample.of(given(name, TEXTS[6:]), name="two")]
    together = [outcome.get() for outcome in engine(adapter).run([method.describe(half) for half in halves])]
    for e, half in zip(together, halves, strict=True):
        (alone,) = engine(adapter).run([method.describe(half)])
        close(plain(e), plain(alone.get()))


@every_method
@every_model
def test_the_same_seed_gives_the_same_answer(name: str, model: str) -> None:
    one = made(name, model, seed=3)
    random.random()
    np.random.random()
    torch.rand(1)
    assert made(name, model, seed=3).to_dict() == one.to_dict()
    assert one.about.seed == 3


@every_method
@every_model
def test_the_cost_of_all_texts_is_counted(name: str, model: str) -> None:
    adapter = MODELS[model]()
    here = engine(adapter)
    if not set(CARDS[name].needs) <= adapter.answers.keys():
        pytest.skip(f"{model} does not answer what {name} asks")
    settings = quick(CARDS[name]) | INNER.get(name, {})
    e = assay.describe(adapter, given(name), name, engine=here, progress=False, **settings)
    assert e.about.cost == here.totals
    assert e.about.cost.sequences == e.about.cost.forwards + e.about.cost.hits
    assert e.about.cost.forwards >= len(TEXTS) or CARDS[name].alone  # every text was at least read


@every_method
@every_model
def test_nothing_of_the_users_is_changed(name: str, model: str) -> None:
    adapter = fresh(model)
    before = picture(adapter)
    settings = quick(CARDS[name]) | INNER.get(name, {})
    try:
        assay.describe(adapter, given(name, TEXTS[:4]), name, engine=engine(adapter), progress=False, **settings)
    except Unanswerable:
        assert not set(CARDS[name].needs) <= adapter.answers.keys()
    assert differences(before, picture(adapter)) == []


@every_method
def test_where_it_comes_from(name: str) -> None:
    e = made(name, "bert", Sample.of(given(name), name="mine"), seed=5)
    assert (e.about.method, e.about.title, e.about.seed) == (name, CARDS[name].title, 5)
    assert CARDS[name].make(e.about.parameters) == CARDS[name].make(quick(CARDS[name]) | INNER.get(name, {}))
    assert e.about.model == opened("bert").name
    assert (e.sample.name, e.sample.size) == ("mine", len(TEXTS))
    assert e.sample.digest == Sample.of(given(name)).digest


@every_method
def test_verbs_that_do_not_fit_say_which_does(name: str) -> None:
    adapter = opened("black_box")
    with pytest.raises(BadInput, match=rf"^{name} describes a whole sample, not single texts; call assay\.describe"):
        assay.explain(adapter, "a film", name)
    with pytest.raises(BadInput, match=r"^lime explains single texts, not a whole sample; call assay\.explain"):
        assay.describe(adapter, ["a film"], "lime")


@every_method
def test_bad_samples_are_named_errors(name: str) -> None:
    adapter = opened("bert")
    settings = quick(CARDS[name]) | INNER.get(name, {})
    wrong: list[tuple[Any, str]] = [([], "no texts"), (["a \ud800 film"], "row 1"), (5, "a sample is")]
    wrong += [] if CARDS[name].alone else [(["a film", ""], "row 2")]  # it may not read the texts at all
    for sample, said in wrong:
        with pytest.raises(BadInput, match=said):
            assay.describe(adapter, sample, name, progress=False, **settings)
    if CARDS[name].alone:
        return
    with pytest.raises(BadInput, match=f"^{name} describes what a model does with texts; give a sample"):
        assay.describe(adapter, None, name, progress=False, **settings)


@every_method
@every_model
def test_views_render(name: str, model: str) -> None:
    nasty = ['a <script>alert("x")</script> & film', "a dull \x1b[2J film", "good שלום"]
    e = made(name, model, given(name, nasty * 2))  # some need two texts of a label
    for html in (e.to_html(), e._repr_html_()):
        assert CARDS[name].title in html
        assert "<script>alert" not in html
        assert "\x1b" not in html
    shown = printed(descriptions.terminal([e]))
    assert CARDS[name].title in shown
    assert "\x1b" not in shown
    assert all(len(line) <= 100 for line in shown.splitlines())


def reads(check: str) -> str:
    if check == "rule_precision":  # other rules change no words
        return "sear"
    return next(name for name, card in CARDS.items() if issubclass(card.returns, CHECKS[check].reads))


def checked(check: str, model: str, seed: int = 0, **more: Any) -> Any:
    adapter, name = opened(model), reads(check)
    if not {*CARDS[name].needs, *CHECKS[check].needs} <= adapter.answers.keys():
        pytest.skip(f"{model} does not answer what {name} and {check} ask")
    method = CARDS[name].make(quick(CARDS[name]) | INNER.get(name, {}))
    settings = {"engine": engine(adapter), "progress": False, "seed": seed, **more}
    (found,) = assay.check(adapter, few(name), [method], [CHECKS[check].make(quick(CHECKS[check]))], **settings)
    return found


@every_check
@every_model
def test_a_verdict_is_never_a_bare_number(check: str, model: str) -> None:
    data = json.loads(json.dumps(checked(check, model).to_dict()))
    for key in ("method", "check", "mean", "interval", "random", "p_value", "better", "warnings"):
        assert key in data
    assert data["interval"][0] <= data["interval"][1]
    assert 0 < data["p_value"] <= 1
    assert (data["draws"], data["better"]) == (200, CHECKS[check].better)
    assert checked(check, model, draws=30).to_dict()["draws"] == 30


@every_check
@every_model
def test_the_same_seed_gives_the_same_verdict(check: str, model: str) -> None:
    one, two = (checked(check, model, seed=2, draws=20).to_dict() for _ in range(2))
    assert one == two


@every_check
def test_the_verdict_stands_on_the_page(check: str) -> None:
    name = reads(check)
    e = made(name, "bert")
    method = CARDS[name].make(e.about.parameters)
    test = CHECKS[check].make(quick(CHECKS[check]))
    (found,) = assay.check(None, few(name), [method], [test], engine=engine(opened("bert")), progress=False)
    page = assay.views.page([e], [found])
    assert CHECKS[check].title in page
    assert "random descriptions of the same sample" in page
