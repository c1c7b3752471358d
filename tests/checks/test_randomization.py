"""Randomization: the similarity and the facts, from maps made by hand on models made by hand."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
from scipy.stats import spearmanr

import assay
from assay.checks.randomization import Randomization
from assay.engine.engine import Engine
from assay.errors import BadInput, Unanswerable
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.models import BlackBox
from assay.models.base import Handler
from assay.questions.inside import Depth
from assay.registry.finding import find_method
from assay.text.text import Text

TEXTS = ["a funny film that never lets go of its audience", "the plot was dull , the acting worse"]


@pytest.fixture(scope="module")
def model() -> Any:
    network, tokenizer = tiny.bert()
    return assay.load((deepcopy(network).double(), tokenizer))  # so that rounding hides nothing above 1e-6


def one(model: Any, check: Randomization, method: str = "leave_one_out", **settings: Any) -> Any:
    (verdict,) = assay.check(model, TEXTS, [method], [check], draws=5, progress=False, **settings)
    return verdict


@pytest.mark.parametrize("part", ["head", "released"])
@pytest.mark.parametrize("method", ["leave_one_out", "integrated_gradients"])
def test_against_explanations_of_the_randomised_models(model: Any, part: str, method: str) -> None:
    told = one(model, Randomization(part=part, seeds=(3, 8)), method)  # type: ignore[arg-type]
    scores: list[float] = []
    names = ("sign_changes", "change", "scaled_change", "magnitude_after", "rank_correlation")
    facts: dict[str, list[float]] = {name: [] for name in names}
    for text in TEXTS:
        here = assay.explain(model, text, method)
        maps = [
            assay.explain(model.derived(f"randomized:{part}:{seed}"), text, method, target=here.target).scores
            for seed in (3, 8)
        ]
        rhos = [spearmanr(here.scores, there).statistic for there in maps]
        scores.append(np.mean(np.abs(rhos)))
        facts["rank_correlation"].append(np.mean(rhos))
        facts["sign_changes"].append(np.mean([np.mean(here.scores * there < 0) for there in maps]))
        facts["change"].append(np.mean([np.mean(abs(here.scores - there)) for there in maps]))
        scaled = [scores / abs(scores).max() for scores in (here.scores, *maps)]
        facts["scaled_change"].append(np.mean([np.mean(abs(scaled[0] - there)) for there in scaled[1:]]))
        facts["magnitude_after"].append(np.mean([np.mean(abs(there)) for there in maps]))
    assert told.scores == pytest.approx(scores, abs=1e-6)
    for name, values in facts.items():
        assert told.facts[name] == pytest.approx(np.mean(values), abs=1e-6), name


def test_the_explained_number_is_the_same(model: Any) -> None:
    """The label, the scale and the contrast of the explanation are kept on the randomised model."""
    settings: dict[str, Any] = {"target": 2, "against": 0, "scalar": "logit"}
    told = one(model, Randomization(part="head", seeds=(1,)), **settings)
    here = assay.explain(model, TEXTS[0], "leave_one_out", **settings).scores
    there = assay.explain(model.derived("randomized:head:1"), TEXTS[0], "leave_one_out", **settings).scores
    assert told.scores[0] == pytest.approx(abs(spearmanr(here, there).statistic), abs=1e-6)


def test_parameters_of_the_method_are_kept(model: Any) -> None:
    method = find_method("lime").make({"samples": 50, "eraser": "mask"})
    (told,) = assay.check(model, TEXTS[:1], [method], [Randomization(part="head", seeds=(0,))], draws=2, progress=False)
    here = assay.explain(model, TEXTS[0], method).scores
    twin = model.derived("randomized:head:0")
    there = assay.explain(twin, TEXTS[0], method, target=assay.explain(model, TEXTS[0], method).target).scores
    assert told.scores[0] == pytest.approx(abs(spearmanr(here, there).statistic), abs=1e-6)


def test_the_cascade_has_a_number_for_each_stage(model: Any) -> None:
    told = one(model, Randomization(part="cascade", seeds=(0,)))
    assert {name for name in told.facts if name.startswith("similarity")} == {f"similarity_{k}" for k in range(3)}
    text, here = TEXTS[0], assay.explain(model, TEXTS[0], "leave_one_out")
    maps = [assay.explain(model.derived(f"randomized:cascade:{k}:0"), text, "leave_one_out", target=here.target)
            for k in range(3)]  # fmt: skip
    rhos = [abs(spearmanr(here.scores, there.scores).statistic) for there in maps]
    assert told.scores[0] == pytest.approx(rhos[-1], abs=1e-6)
    alone = assay.check(model, TEXTS[:1], ["leave_one_out"], [Randomization(seeds=(0,))], draws=2, progress=False)[0]
    assert [alone.facts[f"similarity_{k}"] for k in range(3)] == pytest.approx(rhos, abs=1e-6)
    assert all(warning.startswith("too few texts") for warning in told.warnings)


@pytest.mark.parametrize("part", ["head", "released"])
def test_the_head_alone_comes_with_a_warning(model: Any, part: Any) -> None:
    assert any("no fault by itself" in said for said in one(model, Randomization(part=part)).warnings)


def test_stages_may_be_fewer(model: Any) -> None:
    few = one(model, Randomization(part="cascade", seeds=(0,), stages=1))
    assert {name for name in few.facts if name.startswith("similarity")} == {"similarity_0", "similarity_2"}


def test_a_method_that_does_not_look_at_the_model_fails(model: Any) -> None:
    told = one(model, Randomization(), "random")
    assert told.scores == pytest.approx(1.0)
    assert told.worse_than_random
    assert not told.passed
    assert told.to_dict()["passed"] is False


def test_random_maps_are_only_measured_not_made_again(model: Any) -> None:
    """The randomised models are asked once, however many random maps go along."""
    engine = Engine(model)
    assay.check(model, TEXTS, ["leave_one_out"], [Randomization(seeds=(0,))], draws=2, progress=False, engine=engine)
    asked = engine.totals.sequences
    engine = Engine(model)
    assay.check(model, TEXTS, ["leave_one_out"], [Randomization(seeds=(0,))], draws=50, progress=False, engine=engine)
    assert engine.totals.sequences == asked


def test_black_boxes_and_bad_settings_are_told() -> None:
    box = BlackBox(lambda texts: np.full(len(texts), 0.5), labels=["a", "b"])
    with pytest.raises(Unanswerable, match="randomization asks for Depth"):
        assay.check(box, ["a film"], ["leave_one_out"], ["randomization"])
    for bad in ({"seeds": ()}, {"seeds": (-1,)}, {"stages": 0}):
        with pytest.raises(BadInput, match="at least one seed"):
            Randomization(**bad)


def test_an_explanation_of_unknown_origin_is_told(model: Any) -> None:
    e = TokenScores(Case(Text.of("a film"), 0), np.ones(2))
    with pytest.raises(BadInput, match="which method"):
        next(Engine(model).run([Randomization().examine(e)])).get()


def test_a_model_without_layers_has_no_cascade() -> None:
    class NoLayers(Handler[BlackBox]):
        def encode(self, model: BlackBox, rows: Any) -> Any:
            return rows

        def answer(self, model: BlackBox, batch: Any) -> Any:
            return np.zeros((len(batch), 1))

    class Flat(BlackBox):
        answers = BlackBox.answers | {Depth: NoLayers()}

    box = Flat(lambda texts: np.full(len(texts), 0.5), labels=["a", "b"])
    with pytest.raises(Unanswerable, match="one by one"):
        assay.check(box, ["a film"], ["leave_one_out"], [Randomization(part="cascade")])
