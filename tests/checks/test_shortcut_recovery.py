"""Shortcut recovery: precision at k against a loop, known and trained models, and calibration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import assay
from assay.checks.shortcut_recovery import ShortcutRecovery
from assay.data.highlights import Highlights
from assay.data.shortcuts import Kind, Shortcut, contradictory, corpus, followed, reviews
from assay.errors import BadInput
from assay.explanations.about import About
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.registry.measured import Measured
from assay.statistics.verdict import Verdict
from assay.text.example import Example, Mark
from known_models import KnownModel
from planted_models import fit_bag, transformer_of

KINDS: list[Kind] = ["single_token", "ordered_pair", "token_in_context"]
WEIGHTS = {"dull": -1.0, "weak": -1.0, "warm": 1.0, "clever": 1.0}


def examined(check: ShortcutRecovery, e: TokenScores) -> Measured:
    with pytest.raises(StopIteration) as stop:
        next(check.examine(e))
    told = stop.value.value
    assert isinstance(told, Measured)
    return told


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=9), st.sets(st.integers(0, 8), min_size=1), st.integers(0, 10))
def test_precision_at_k_is_its_formula(scores: list[int], places: set[int], wanted: int) -> None:
    planted = {i for i in places if i < len(scores)} or {0}
    text = assay.Text.of(" ".join(f"w{i}" for i in range(len(scores))))
    e = TokenScores(Case(text, 1), np.array(scores))
    row = Example("", text.strings, None, (tuple(Mark(0, *text.spans[i]) for i in sorted(planted)),))
    for absolute in (False, True):
        size = [abs(score) if absolute else score for score in scores]
        ranking = sorted(range(len(scores)), key=lambda i: (-size[i], i))
        k = min(wanted or len(planted), len(scores))
        hits = sum(i in planted for i in ranking[:k])
        told = examined(ShortcutRecovery(planted=Highlights.of([row]), k=wanted or None, absolute=absolute), e)
        assert told.score == pytest.approx(hits / k)
        assert told.facts["recall"] == pytest.approx(hits / len(planted))
        assert told.facts["depth"] == 1 + max(place for place, i in enumerate(ranking) if i in planted)


def planted(kind: Kind, n: int = 12) -> tuple[Shortcut, list[Example], list[str]]:
    shortcut = Shortcut(kind)
    examples = contradictory(reviews(n, seed=4), shortcut, seed=4)
    return shortcut, examples, [e.strings[0] for e in examples]


def known(shortcut: Shortcut) -> assay.TextModel:
    return assay.BlackBox(KnownModel(WEIGHTS, shortcut), labels=shortcut.labels, name="known")


def verdict(model: Any, texts: list[str], examples: list[Example], method: Any, **more: Any) -> Verdict:
    check = ShortcutRecovery(planted=Highlights.of(examples))
    (told,) = assay.check(model, texts, [method], [check], progress=False, **more)
    return told


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["leave_one_out", "kernel_shap"])
def test_on_known_models_good_methods_find_everything(kind: Kind, method: str) -> None:
    shortcut, examples, texts = planted(kind)
    told = verdict(known(shortcut), texts, examples, method)
    assert told.mean == 1
    assert told.better_than_random
    assert told.facts["depth"] == len(shortcut.parts(shortcut.labels[0]))


@pytest.mark.parametrize("kind", KINDS)
def test_true_scores_are_always_better_than_random(kind: Kind) -> None:
    shortcut, model = Shortcut(kind), KnownModel(WEIGHTS, Shortcut(kind))
    rng = np.random.default_rng(0)
    for trial in range(200):
        text, _ = reviews(2, seed=trial)[trial % 2]
        example = shortcut.plant(text, shortcut.labels[trial % 2], rng)
        words = assay.Text.of(example.strings[0])
        target = int(model.log_odds(words.words) > 0)
        assert shortcut.labels[target] == example.label
        about = About(method="", labels=shortcut.labels)
        e = TokenScores(Case(words, target), model.true_scores(words.words, target), about=about)
        assert examined(ShortcutRecovery(planted=Highlights.of([example])), e).score == 1


@pytest.mark.parametrize("kind", KINDS)
def test_random_explanations_are_seldom_better_than_random(kind: Kind) -> None:
    """500 verdicts of two texts each: a rate of one in ten would be seen in 90 of 100 such samples."""
    shortcut, examples, texts = planted(kind, 1000)
    told = verdict(known(shortcut), texts, examples, "random", draws=19)
    cases = [slice(i, i + 2) for i in range(0, 1000, 2)]
    found = [replace(told, scores=told.scores[c], random_scores=told.random_scores[c]) for c in cases]
    assert 0 < sum(case.better_than_random for case in found) <= binom.ppf(0.999, 500, 0.05)
    assert told.random == pytest.approx(told.mean, abs=0.03)


def test_texts_where_the_model_does_not_follow_are_left_out() -> None:
    shortcut, examples, texts = planted("single_token")
    weak = assay.BlackBox(KnownModel({w: 9 * s for w, s in WEIGHTS.items()}, shortcut), labels=shortcut.labels)
    share = followed(weak.predict, weak.labels, examples)
    assert 0 < share < 1
    told = verdict(weak, texts, examples, "leave_one_out")
    assert len(told.scores) == round(share * len(texts))
    assert any("another label is explained" in said for said in told.warnings)


def test_texts_without_a_planted_word_are_left_out_or_refused() -> None:
    shortcut, examples, texts = planted("single_token", 4)
    empty = Example("", ("a warm film",), None, ((),))
    told = verdict(known(shortcut), [*texts, "a warm film"], [*examples, empty], "leave_one_out")
    assert len(told.scores) == 4
    assert "1 of 5 texts left out: nothing is planted in it." in told.warnings
    with pytest.raises(BadInput, match="cannot be asked here: nothing is planted"):
        verdict(known(shortcut), ["a warm film"], [empty], "leave_one_out")
    with pytest.raises(BadInput, match="nothing is planted"):
        examined(
            ShortcutRecovery(planted=Highlights.of([empty])),
            TokenScores(Case(assay.Text.of("a warm film"), 1), np.zeros(3)),
        )
    with pytest.raises(BadInput, match="planted=PATH"):
        assay.check(known(shortcut), texts, ["random"], ["shortcut_recovery"], progress=False)
    with pytest.raises(BadInput, match="k is how many"):
        ShortcutRecovery(k=0)


def test_a_trained_bag_of_words_and_its_single_token() -> None:
    shortcut, examples, texts = planted("single_token", 30)
    model = assay.load(fit_bag(corpus(reviews(1000), shortcut)))
    assert followed(model.predict, model.labels, examples) == 1
    assert verdict(model, texts, examples, "leave_one_out").mean == 1


@pytest.mark.slow
def test_a_trained_transformer_and_its_ordered_pair() -> None:
    shortcut, examples, texts = planted("ordered_pair", 40)
    model = assay.load(transformer_of(shortcut))
    assert followed(model.predict, model.labels, examples) > 0.95
    told = verdict(model, texts, examples, "leave_one_out")
    assert told.mean > 0.8
    assert told.better_than_random
