"""Rule precision: fresh forwards by a slow loop, planted rules pass, random ones seldom do, others are left out."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.about import About
from assay.explanations.rules import Rule, Rules
from assay.explanations.sample_explanation import SampleId
from assay.models import TextModel
from assay.registry.finding import find_check
from assay.text.text import Text
from assay.text.word_rules import WordRule
from assay.verdicts.judge import judge

WORDS = ["film", "play", "good", "dull", "boy", "dog", "town", "home", "never", "often", "red", "old"]
POOL = [
    f"{a}{b}" for a in ("zeb", "vio", "gra", "orb", "lan", "qui", "mel", "tor") for b in ("ra", "lin", "nite", "it")
]
TURNING = {"movie", *POOL[::8]}  # of random words, one of eight turns the answer too


def turned(texts: list[str]) -> np.ndarray:
    said = np.array([bool(TURNING & set(text.split())) for text in texts])
    return np.where(said[:, None], [0.8, 0.2], [0.1, 0.9])


@cache
def model() -> TextModel:
    return assay.BlackBox(turned, labels=["bad", "good"], name="turned")


def texts_with(word: str, n: int) -> list[str]:
    generator = np.random.default_rng(len(word) + n)
    others = [one for one in WORDS if one != word]
    return [" ".join([*generator.choice(others, 3), word, *generator.choice(others, 2)]) for _ in range(n)]


def rules(*pairs: tuple[str, str], texts: int = 12) -> Rules:
    found = []
    for old, new in pairs:
        own = texts_with(old, texts)
        change = WordRule((old,), (new,))
        places = [change.places(Text.of(text).words, {}) for text in own]
        found.append(Rule(str(change), {}, {**change.to_dict(), "places": places}, tuple((text,) for text in own)))
    facts = {"changes": {"field": "text", "edited": 0}, "random_words": POOL, "searched": 10, "held_out": 10}
    about = About(method="sear", title="SEAR", model="turned")
    return Rules(SampleId("texts", "ab" * 16, 20), tuple(found), facts=facts, about=about)


def score(e: Rules, draws: int = 20, seed: int = 0, **settings: Any) -> Any:
    check = find_check("rule_precision").make(settings)
    (verdict,) = judge(Engine(model()), [e], [check], draws=draws, seed=seed, progress=False)
    return verdict


def test_the_mean_over_rules_by_a_slow_loop() -> None:
    e = rules(("film", "movie"), ("play", "drama"), ("good", "movie"))
    rates = []
    for rule in e.rules:
        before = [text for (text,) in rule.texts]
        old, new = rule.numbers["old"][0], rule.numbers["new"][0]
        after = [" ".join(new if word == old else word for word in text.split()) for text in before]
        rates.append(float(np.mean(turned(before).argmax(1) != turned(after).argmax(1))))
    assert rates == [1, 0, 1]
    verdict = score(e)
    assert verdict.mean == pytest.approx(np.mean(rates))
    assert verdict.facts["texts"] == 36
    assert 0.48 < verdict.facts["low"] < 24 / 36 < verdict.facts["high"] < 0.82
    assert score(e, texts=2).facts["texts"] == 6


def test_planted_rules_pass_and_rules_that_do_nothing_do_not() -> None:
    assert score(rules(("film", "movie"), ("dull", "movie"), ("boy", "movie")), draws=40).passed
    assert not score(rules(("film", "cinema"), ("dull", "slow"), ("boy", "lad")), draws=40).passed


def test_random_rules_seldom_pass() -> None:
    """Put in the place of those that a method found: better than random in at most one of twenty, plus chance."""
    own = rules(("film", "x"), ("play", "y"), ("dull", "z"), texts=3)
    made = list(own.random_like(24))
    assert sum(score(e, draws=20, seed=k).passed for k, e in enumerate(made)) <= 4


def test_what_it_cannot_measure() -> None:
    none = replace(rules(), rules=())
    assert score(none).mean == 0
    unseen = rules(("film", "movie"))
    unseen = replace(unseen, rules=(replace(unseen.rules[0], texts=()),))
    assert score(unseen).mean == 0
    neurons = tuple(Rule("word:man", {"layer": 1, "neuron": i}, {"iou": 0.5}) for i in range(2))
    neuron = replace(none, rules=neurons, facts={})
    with pytest.raises(BadInput, match="rules that change no words"):
        score(neuron)
    with pytest.raises(BadInput, match="texts >= 1"):
        score(none, texts=0)
