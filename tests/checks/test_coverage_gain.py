"""Coverage gain: the number by hand, and a random choice that does not pass it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.about import About
from assay.explanations.sample_explanation import SampleId
from assay.explanations.selection import Selection
from assay.verdicts.judge import judge

SEEDS = 400
TEXTS = ["a film", "good and funny", "the end", "a dull mess", "warm", "good", "so so", "what a film this is"]
WEIGHTS = {"good": 2.0, "funny": 1.5, "dull": -2.0, "mess": -1.0, "warm": 0.5}


def chances(texts: list[str]) -> Any:
    return 1 / (1 + np.exp(-np.array([sum(WEIGHTS.get(word, 0.0) for word in text.split()) for text in texts])))


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(assay.BlackBox(chances, labels=["bad", "good"], name="lexicon"))


def selection(chosen: tuple[int, ...], seed: int = 0, texts: int = 40, words: int = 60) -> Selection:
    """A choice of texts with some words each, of very different importance."""
    rng = np.random.default_rng(7)
    rows = tuple(tuple(sorted(rng.choice(words, rng.integers(2, 9), replace=False).tolist())) for _ in range(texts))
    names = tuple(f"w{i}" for i in range(words))
    about = About(method="sp_lime", seed=seed)
    return Selection(
        SampleId("s", f"{seed:032x}", texts), names, rng.exponential(size=words), rows, chosen, about=about
    )


def test_the_score_is_the_covered_share(engine: Engine) -> None:
    e = selection((3, 8, 21))
    (v,) = judge(engine, [e], ["coverage_gain"], draws=50)
    words = {j for i in (3, 8, 21) for j in e.rows[i]}
    by_hand = sum(e.importance[j] for j in words) / e.importance.sum()
    assert v.mean == pytest.approx(by_hand) == e.covered
    assert v.facts == {"picks": 3, "words": len(words)}
    assert v.random_scores.shape == (1, 50)
    assert v.random == pytest.approx(np.mean([one.covered for one in e.random_like(50)]))


@pytest.mark.parametrize("picks", [1, 4, 12])
def test_a_random_choice_seldom_passes(engine: Engine, picks: int) -> None:
    """Its p-values are not small more often than chance has it; those of a verdict are drawn apart from these."""
    rng = np.random.default_rng(11)
    values = []
    for seed in range(SEEDS):
        chosen = tuple(rng.choice(40, picks, replace=False).tolist())
        (v,) = judge(engine, [selection(chosen, seed)], ["coverage_gain"], draws=39, seed=seed)
        values.append((v.p_value, v.better_than_random))
    for level in (0.05, 0.1, 0.25, 0.5):
        small = sum(p <= level for p, _ in values)
        assert small <= SEEDS * level + 2.6 * np.sqrt(SEEDS * level * (1 - level)), level
    assert sum(passed for _, passed in values) <= SEEDS * 0.05 + 2.6 * np.sqrt(SEEDS * 0.05 * 0.95)
    assert min(p for p, _ in values) < 0.1  # it could have been small


def test_the_method_passes_and_a_choice_of_everything_does_not(engine: Engine) -> None:
    (v,) = assay.check(None, TEXTS, ["sp_lime"], ["coverage_gain"], engine=engine, progress=False)
    assert (v.method, v.check, v.better) == ("sp_lime", "coverage_gain", "higher")
    assert v.random_scores.shape == (1, 200)
    method = assay.registry.find_method("sp_lime").make({"of": "leave_one_out", "picks": 3})
    (v,) = assay.check(None, TEXTS, [method], ["coverage_gain"], engine=engine, progress=False)
    assert v.better_than_random
    assert v.method_parameters == {"of": "leave_one_out", "picks": 3, "words": 10}
    everything = replace(method, picks=len(TEXTS))
    (v,) = assay.check(None, TEXTS, [everything], ["coverage_gain"], engine=engine, progress=False)
    assert v.difference == 0
    assert v.sentence == "not distinguishable from random"


def test_the_same_from_a_list_a_frame_a_file_and_a_sample(engine: Engine, tmp_path: Any) -> None:
    import pandas as pd

    path = tmp_path / "texts.csv"
    frame = pd.DataFrame({"text": TEXTS})
    frame.to_csv(path, index=False)
    method = assay.registry.find_method("sp_lime").make({"of": "leave_one_out", "picks": 2})
    found = [
        assay.check(None, source, [method], ["coverage_gain"], engine=engine, progress=False)[0].to_dict()
        for source in (TEXTS, frame, path, str(path), assay.Sample.of(TEXTS))
    ]
    assert all(one == found[0] for one in found)


def test_kinds_that_do_not_fit_are_named(engine: Engine) -> None:
    with pytest.raises(BadInput, match="coverage_gain reads Selection, but leave_one_out returns TokenScores"):
        assay.check(None, TEXTS, ["leave_one_out"], ["coverage_gain"], engine=engine)
    with pytest.raises(BadInput, match="deletion reads TokenScores, but sp_lime returns Selection"):
        assay.check(None, TEXTS, ["sp_lime"], ["deletion"], engine=engine)
