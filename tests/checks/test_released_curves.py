"""Deletion and insertion as the paper defines them and as its released code computes them."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import pytest
import tiny
from sklearn.metrics import auc

import assay
from assay.checks.deletion import Deletion
from assay.checks.insertion import Insertion
from assay.engine.engine import Engine
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.text.text import Text

LONG = "the film was good , but the plot was slow and dull and the cast not very good"


@pytest.fixture(scope="module")
def model() -> assay.TextModel:
    return assay.load(tiny.bert())


def explained(source: str) -> TokenScores:
    text = Text.of(source)
    return TokenScores(Case(text, 1), np.random.default_rng(len(text)).normal(size=len(text)))


def run(model: assay.TextModel, conversation: Any) -> Any:
    return next(Engine(model, resolve=lambda name: assay.load(tiny.masked_lm())).run([conversation])).get()


def chance(model: assay.TextModel, e: TokenScores, words: list[str]) -> float:
    return float(model.predict([" ".join(words)])[0, e.target])


@pytest.mark.parametrize("n", [2, 3, 6, 11, 17])
def test_the_released_deletion(model: assay.TextModel, n: int) -> None:
    """After 1 ... m deletions, at x = 1/m ... 1, without the point of the whole text."""
    e = explained(" ".join(LONG.split()[:n]))
    m = max(2, ceil(0.2 * (n - 1)))
    words, curve = list(enumerate(e.words)), []
    for gone in sorted(range(n), key=lambda i: -e.scores[i])[:m]:
        words = [(i, word) for i, word in words if i != gone]
        curve.append(chance(model, e, [word for _, word in words]))
    expected = auc([(k + 1) / m for k in range(m)], curve)
    assert run(model, Deletion(variant="released").examine(e)) == pytest.approx(expected, abs=1e-6)
    assert expected <= 1 - 1 / m


@pytest.mark.parametrize("n", [2, 6, 17])
def test_the_released_insertion(model: assay.TextModel, n: int) -> None:
    e = explained(" ".join(LONG.split()[:n]))
    m = max(2, ceil(0.2 * (n - 1)))
    order = sorted(range(n), key=lambda i: -e.scores[i])
    curve = [chance(model, e, [w for i, w in enumerate(e.words) if i in order[: k + 1]]) for k in range(m)]
    expected = auc([(k + 1) / m for k in range(m)], curve)
    assert run(model, Insertion(variant="released").examine(e)) == pytest.approx(expected, abs=1e-6)


def test_one_word_is_gone_after_the_first_step(model: assay.TextModel) -> None:
    e = explained("film")
    empty = chance(model, e, [])
    assert run(model, Deletion(variant="released").examine(e)) == pytest.approx(empty / 2, abs=1e-6)
    whole = chance(model, e, ["film"])
    assert run(model, Deletion().examine(e)) == pytest.approx((whole + empty) / 2, abs=1e-6)


def test_the_curve_is_there_to_be_seen(model: assay.TextModel) -> None:
    e = explained(LONG)
    curve = run(model, Deletion().curve(e))
    assert len(curve) == ceil(0.2 * len(e.words)) + 1
    assert curve[0] == pytest.approx(chance(model, e, list(e.words)), abs=1e-6)
    assert run(model, Deletion().examine(e)) == pytest.approx(auc(np.linspace(0, 1, len(curve)), curve), abs=1e-9)


def test_words_may_be_replaced_instead_of_deleted(model: assay.TextModel) -> None:
    """Deletion_BERT: the text keeps its length, and no erased word stays."""
    e = explained(LONG)
    check = Deletion(variant="released", eraser=assay.questions.erasers.Resample("mlm"))
    deleted, replaced = run(model, Deletion(variant="released").examine(e)), run(model, check.examine(e))
    assert 0 <= replaced <= 1
    assert replaced != pytest.approx(deleted, abs=1e-6)
