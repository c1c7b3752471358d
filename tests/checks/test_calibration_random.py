"""Calibration: a check finds random explanations "better than random" at most one time in twenty, true ones always.

One verdict per text: 1,000 texts, or 500, of a model whose log-odds are a sum of known word weights, so that the true
scores are known too. Random explanations are drawn here, apart from those that a verdict draws for itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import assay
from assay.engine.engine import Engine
from assay.explanations.token_scores import TokenScores
from assay.registry.finding import find_check
from assay.verdicts import judge as judging

CASES, DRAWS = 1000, 19
FEWER = {"rank_agreement": 500, "stability": 500}  # the dear ones: a doubled rate is still found 97 times in a hundred
VOCABULARY = [f"w{i}" for i in range(60)]
WEIGHTS = dict(zip(VOCABULARY, np.random.default_rng(11).normal(size=60) * 0.7, strict=True))
# Words that carry nothing but are there to be edited.
WEIGHTS |= {"film": 0.4, "movie": 0.4, "big": -0.3, "large": -0.3, "The": 0.1, "the": 0.1, ".": 0.0}

CHECKS: list[tuple[str, dict[str, Any]]] = [
    ("deletion", {}),
    ("deletion", {"variant": "released", "share": 0.5}),
    ("insertion", {}),
    ("insertion", {"variant": "released", "share": 0.5}),
    ("comprehensiveness", {}),
    ("sufficiency", {}),
    ("completeness", {}),
    ("rank_agreement", {}),
    ("stability", {}),
    ("infidelity", {"samples": 24}),
    ("infidelity", {"samples": 24, "scaled": True}),
    ("sensitivity", {}),
]


def lexicon(texts: list[str]) -> np.ndarray[Any, Any]:
    return 1 / (1 + np.exp(-np.array([sum(WEIGHTS[word] for word in t.replace(".", " .").split()) for t in texts])))


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(assay.BlackBox(lexicon, labels=["no", "yes"]))


@pytest.fixture(scope="module")
def true_maps(engine: Engine) -> list[TokenScores]:
    """Leave-one-out, which is exact for a sum; the words stand in random order, weak ones included."""
    rng = np.random.default_rng(5)
    texts = ["The " + " ".join(["film", "big", *rng.choice(VOCABULARY, rng.integers(9, 14), replace=False)])
             for _ in range(CASES)]  # fmt: skip
    return list(assay.explain(engine.model, texts, "leave_one_out", engine=engine, target="yes", progress=False))


def verdicts(engine: Engine, maps: list[TokenScores], name: str, settings: dict[str, Any]) -> Iterator[assay.Verdict]:
    """A verdict for each text alone; they are measured together and told apart afterwards."""
    card = find_check(name)
    (together,) = judging.judge(engine, maps, [card.make(settings)], draws=DRAWS, progress=False)
    for i in range(len(maps)):
        row = slice(i, i + 1)
        yield replace(together, scores=together.scores[row], random_scores=together.random_scores[row])


def drawn(maps: list[TokenScores]) -> list[TokenScores]:
    rng = np.random.default_rng(99)
    return [e.told(scores=rng.normal(size=len(e.text)), about=random_method(e)) for e in maps]


def random_method(e: TokenScores) -> Any:
    """What is done again with the map must be random too."""
    return replace(e.about, method="random", parameters={})


@pytest.mark.slow
@pytest.mark.parametrize(("name", "settings"), CHECKS)
def test_random_explanations(engine: Engine, true_maps: list[TokenScores], name: str, settings: dict[str, Any]) -> None:
    cases = FEWER.get(name, CASES)
    told = list(verdicts(engine, drawn(true_maps[:cases]), name, settings))
    assert len(told) == cases
    allowed = cases * 0.05 + 2.6 * np.sqrt(cases * 0.05 * 0.95)
    assert sum(v.better_than_random for v in told) <= allowed
    assert sum(v.worse_than_random for v in told) <= allowed


@pytest.mark.parametrize(("name", "settings"), CHECKS)
def test_true_explanations(engine: Engine, true_maps: list[TokenScores], name: str, settings: dict[str, Any]) -> None:
    told = list(verdicts(engine, true_maps[:100], name, settings))
    assert all(v.better_than_random for v in told)
