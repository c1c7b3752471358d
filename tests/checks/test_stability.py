"""Stability: the mean correlation over the words that stay, from explanations made one by one."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
from scipy.stats import spearmanr

import assay
from assay.checks.stability import Stability
from assay.errors import BadInput
from assay.registry.finding import find_check

TEXT = "A funny film with a big heart that never lets go!"


@pytest.fixture(scope="module")
def model() -> Any:
    network, tokenizer = tiny.bert(cased=True)
    return assay.load((deepcopy(network).double(), tokenizer))  # so that rounding hides nothing above 1e-6


def told(model: Any, texts: list[str], method: str = "leave_one_out", **settings: Any) -> Any:
    (verdict,) = assay.check(model, texts, [method], [Stability(**settings)], draws=5, progress=False)
    return verdict


@pytest.mark.parametrize("method", ["leave_one_out", "integrated_gradients"])
def test_against_explanations_of_the_edited_texts(model: Any, method: str) -> None:
    here = assay.explain(model, TEXT, method)
    words = [word.lower() for word in here.words]
    kept = [i for i, word in enumerate(words) if word not in ("film", "big")]
    edits = {
        "case": (TEXT.lower(), range(12), range(12)),
        "punctuation": (TEXT[:-1], range(11), range(11)),
        "synonym": (TEXT.replace("film", "movie").replace("big", "large"), kept, kept),
    }
    assert len(words) == 12
    expected, moved = {}, []
    for kind, (text, before, after) in edits.items():
        there = assay.explain(model, text, method, target=here.target)
        expected[kind] = spearmanr(here.scores[list(before)], there.scores[list(after)]).statistic
        moved.append(abs(model.predict([text]) - model.predict([TEXT]))[0, here.target])
    verdict = told(model, [TEXT], method)
    assert verdict.scores[0] == pytest.approx(np.mean([*expected.values()]), abs=1e-6)
    assert verdict.facts == pytest.approx(expected | {"prediction_change": np.mean(moved)}, abs=1e-6)


def test_another_seed(model: Any) -> None:
    fixed = told(model, [TEXT], edits=("seed",))
    assert fixed.scores == pytest.approx(1.0)
    one, two = (assay.explain(model, TEXT, "random", seed=seed).scores for seed in (0, 1))
    drawn = told(model, [TEXT], "random", edits=("seed",))
    assert drawn.scores[0] == pytest.approx(spearmanr(one, two).statistic, abs=1e-9)


def test_texts_without_an_edit_are_left_out(model: Any) -> None:
    verdict = told(model, [TEXT, "nothing to see here"], edits=("synonym",))
    assert len(verdict.scores) == 1
    assert verdict.random_scores.shape == (1, 5)
    with pytest.raises(BadInput, match="cannot be asked here: no edit of synonym"):
        told(model, ["nothing to see here"], edits=("synonym",))
    with pytest.raises(BadInput, match="at least one kind"):
        Stability(edits=())


def test_edits_from_a_shell() -> None:
    card = find_check("stability")
    assert card.make({"edits": "case,seed"}).edits == ("case", "seed")
    with pytest.raises(BadInput, match="spelling"):
        card.make({"edits": "spelling"})
