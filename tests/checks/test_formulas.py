"""Every check against its formula, written out as a plain loop over words."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.registry.finding import find_check

TEXT = "the film was good , but the plot was slow and dull"


@pytest.fixture(scope="module")
def model() -> assay.TextModel:
    return assay.load(tiny.bert())


@pytest.fixture(scope="module")
def e(model: assay.TextModel) -> TokenScores:
    text = assay.Text.of(TEXT)
    return TokenScores(Case(text, 1), np.random.default_rng(5).normal(size=len(text)))


def score(model: assay.TextModel, e: TokenScores, name: str, **settings: Any) -> float:
    return next(Engine(model).run([find_check(name).make(settings).examine(e)])).get()


def chance(model: assay.TextModel, e: TokenScores, keep: Callable[[int], bool]) -> float:
    """The target's probability with only the words whose rank the function keeps."""
    rank = {word: place for place, word in enumerate(sorted(range(len(e.words)), key=lambda i: -e.scores[i]))}
    words = [word for i, word in enumerate(e.words) if keep(rank[i])]
    return float(model.predict([" ".join(words)])[0, e.target])


def trapezoid(points: list[float]) -> float:
    width = 1 / (len(points) - 1)
    return sum((a + b) / 2 * width for a, b in pairwise(points))


def test_deletion(model: assay.TextModel, e: TokenScores) -> None:
    upto = ceil(0.2 * len(e.words))
    curve = [chance(model, e, lambda r, k=k: r >= k) for k in range(upto + 1)]  # type: ignore[misc]
    assert score(model, e, "deletion") == pytest.approx(trapezoid(curve), abs=1e-6)


def test_insertion(model: assay.TextModel, e: TokenScores) -> None:
    upto = ceil(0.2 * len(e.words))
    curve = [chance(model, e, lambda r, k=k: r < k) for k in range(upto + 1)]  # type: ignore[misc]
    assert score(model, e, "insertion") == pytest.approx(trapezoid(curve), abs=1e-6)


@pytest.mark.parametrize(("name", "inside"), [("comprehensiveness", False), ("sufficiency", True)])
def test_eraser(model: assay.TextModel, e: TokenScores, name: str, inside: bool) -> None:
    whole = chance(model, e, lambda r: True)
    drops = []
    for share in (0.01, 0.05, 0.1, 0.2, 0.5):
        k = ceil(share * len(e.words))
        drops.append(whole - chance(model, e, lambda r, k=k: (r < k) == inside))  # type: ignore[misc]
    assert score(model, e, name) == pytest.approx(np.mean(drops), abs=1e-6)


def test_completeness(model: assay.TextModel, e: TokenScores) -> None:
    p, q = model.predict([TEXT])[0, 1], model.predict([""])[0, 1]
    promised = np.log(p / (1 - p)) - np.log(q / (1 - q))
    assert score(model, e, "completeness") == pytest.approx(abs(e.scores.sum() - promised) / abs(promised), abs=1e-4)
    assert score(model, e.told(facts={"baseline": 0.0}), "completeness") != pytest.approx(
        score(model, e, "completeness")
    )


@pytest.mark.parametrize("eraser", ["delete", "unknown", "mask", "pad"])
@pytest.mark.parametrize("name", ["deletion", "insertion", "comprehensiveness", "sufficiency"])
def test_every_eraser_works_in_every_check(model: assay.TextModel, e: TokenScores, name: str, eraser: str) -> None:
    assert np.isfinite(score(model, e, name, eraser=eraser))


def test_one_word_texts_have_scores(model: assay.TextModel) -> None:
    one = TokenScores(Case(assay.Text.of("good"), 0), np.array([1.0]))
    for name in ("deletion", "insertion", "comprehensiveness", "sufficiency"):
        assert np.isfinite(score(model, one, name))
