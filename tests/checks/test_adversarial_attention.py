"""Adversarial attention: the selection of Algorithm 3 by hand, epsilon kept whatever happens, and calibration."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest
import tiny
from scipy.spatial.distance import jensenshannon

import assay
from assay.checks.adversarial_attention import AdversarialAttention
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.answers import Adversaries, Predictions
from assay.questions.interventions import Adversary, InterveneAttention, Search
from assay.registry.finding import find_check
from assay.text.text import Text
from assay.verdicts import judge as judging
from attention_by_hand import ByHand

TEXTS = ["the plot was dull", "a slow sad and strangely beautiful story about loss", "great film", "very very good"]


def model(labels: int = 3, **more: Any) -> Any:
    return assay.load(tiny.attentive(num_labels=labels, **more))


def attacked(model: Any, text: str, scores: Any = None, **settings: Any) -> Any:
    """What the check finds for one text, all of it."""
    check = AdversarialAttention(**settings)
    own = assay.explain(model, text, "attention").scores if scores is None else scores
    e = TokenScores(Case(Text.of(text), 0), own)
    return next(Engine(model).run([check.attack(e.text, own / own.sum(), e.case.generator())])).get()


def checked(model: Any, texts: list[Any], method: Any = "attention", **settings: Any) -> assay.Verdict:
    check = find_check("adversarial_attention").make({"steps": 40, **settings})
    (told,) = assay.check(model, texts, [method], [check], draws=3, progress=False)
    return told


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("epsilon", [0.05, 0.002, 0.0])
def test_the_selection_of_the_paper(labels: int, epsilon: float) -> None:
    """Algorithm 3 in a loop over the attentions that the search found, with an answer by hand to each."""
    network, tokenizer = tiny.attentive(num_labels=labels)
    told = checked(model(labels), TEXTS, epsilon=epsilon)
    for text, score in zip(TEXTS, told.scores, strict=True):
        hand = ByHand(network, tokenizer, text.split())
        found = attacked(model(labels), text, steps=40, epsilon=epsilon).weights
        largest = 0.0
        for other in found[1:]:
            moved = 0.5 * np.abs(hand.answer(other) - hand.answer(hand.weights)).sum()
            assert abs(moved - epsilon) > 1e-5  # else rounding would decide, and this test would say nothing
            if moved <= epsilon:
                largest = max(largest, jensenshannon(other, hand.weights) ** 2)
        assert score == pytest.approx(largest, abs=1e-5)


def by_hand(weights: list[list[float]], chances: list[float], **settings: Any) -> Any:
    """The check with hand-made adversaries, and a hand-made probability under each of them."""
    e = TokenScores(Case(Text.of("a b"), 0), np.array(weights[0]))
    talk = AdversarialAttention(**settings).examine(e)
    asked = next(talk)
    assert isinstance(asked, Adversary)
    table = np.array(weights)
    # What the search itself says of the answers is not believed.
    again = talk.send(Adversaries(table, Predictions(np.zeros((len(table), 2)))))
    assert isinstance(again, InterveneAttention)
    assert again.weights == pytest.approx(table)
    p = np.array(chances)
    with pytest.raises(StopIteration) as end:
        talk.send(Predictions(np.log(np.column_stack([p, 1 - p]))))
    return end.value.value


def test_the_furthest_of_those_that_keep_the_answer() -> None:
    own, far, middle = [0.5, 0.5], [1.0, 0.0], [0.75, 0.25]
    told = by_hand([own, far, middle], [0.5, 0.6, 0.52], epsilon=0.05)
    expected = jensenshannon(middle, own) ** 2
    assert told.score == pytest.approx(expected)
    assert told.facts["within"] == 0.5
    assert told.facts["moved"] == pytest.approx(0.02)
    assert by_hand([own, far, middle], [0.5, 0.54, 0.52], epsilon=0.05).score == pytest.approx(
        jensenshannon(far, own) ** 2
    )


def test_none_that_keeps_it_leaves_the_map_itself() -> None:
    told = by_hand([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]], [0.5, 0.9, 0.1])
    assert told.score == 0
    assert told.facts["within"] == told.facts["moved"] == 0


def test_zeros_give_numbers_and_the_most_is_ln_2() -> None:
    told = by_hand([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5])
    assert told.score == log(2)


def test_no_reported_attention_breaks_epsilon() -> None:
    """With searches cut short, and an epsilon that most of what they find breaks."""
    network, tokenizer = tiny.attentive(num_labels=3)
    broken = 0
    for text in TEXTS:
        for steps in (1, 30):
            for epsilon in (0.0, 1e-3, 0.02):
                found = attacked(model(), text, steps=steps, epsilon=epsilon, penalty=1.0)
                hand = ByHand(network, tokenizer, text.split())
                moved = 0.5 * np.abs(hand.answer(found.weights[found.best]) - hand.answer(found.weights[0])).sum()
                assert moved <= epsilon + 1e-6
                assert found.moved[found.best] <= epsilon
                assert 0 <= found.apart[found.best] <= log(2)
                broken += int((~found.kept).sum())
    assert broken > 30


def test_in_company_as_alone() -> None:
    together = checked(model(), TEXTS, steps=100)
    alone = [checked(model(), [text], steps=100) for text in TEXTS]
    assert together.scores == pytest.approx([one.scores[0] for one in alone], abs=1e-5)
    assert together.random_scores == pytest.approx(np.vstack([one.random_scores for one in alone]), abs=1e-5)
    assert together.scores.max() > 0.1


def test_the_search_gets_its_settings() -> None:
    e = TokenScores(Case(Text.of("a b"), 0), np.array([1.0, 3.0]))
    asked = next(AdversarialAttention(k=2, steps=7, rate=0.5, tolerance=0.3, penalty=9.0, spread=0.1).examine(e))
    assert isinstance(asked, Adversary)
    assert asked.row.search == Search(k=2, steps=7, rate=0.5, tolerance=0.3, penalty=9.0, spread=0.1)
    assert np.frombuffer(asked.row.weights).tolist() == [0.25, 0.75]


def test_the_search_brings_adversaries_back_within_epsilon() -> None:
    few, many = (checked(model(), TEXTS[:2], steps=steps, epsilon=0.01).facts["within"] for steps in (1, 150))
    assert many >= few + 0.2


def test_one_word_scores_zero_and_is_counted() -> None:
    told = checked(model(), ["dull", "the plot was dull"])
    assert told.scores[0] == 0
    assert "one word: only one attention is possible, so the text scores 0 (1 of 2 texts)" in told.warnings


@pytest.mark.parametrize(
    "settings", [{"k": 0}, {"steps": 0}, {"epsilon": -0.1}, {"epsilon": float("nan")}, {"rate": 0.0}, {"tolerance": 3}]
)
def test_what_cannot_be_done_is_said(settings: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="adversarial_attention needs"):
        AdversarialAttention(**settings)


@pytest.mark.slow
def test_random_explanations_are_not_better_than_random() -> None:
    count, draws = 500, 19  # one in ten would be seen in 97 of 100 such samples
    rng = np.random.default_rng(3)
    words = [word for word in " ".join(tiny.CORPUS[:12]).split() if word.isalpha()]
    texts = [Text.of(" ".join(rng.choice(words, rng.integers(4, 9)))) for _ in range(count)]
    maps = [TokenScores(Case(text, 0), rng.normal(size=len(text))) for text in texts]
    card, settings = find_check("adversarial_attention"), {"k": 2, "steps": 6, "rate": 0.6}
    (together,) = judging.judge(Engine(model()), maps, [card.make(settings)], draws=draws, progress=False)
    rows = [slice(i, i + 1) for i in range(count)]
    told = [replace(together, scores=together.scores[r], random_scores=together.random_scores[r]) for r in rows]
    allowed = count * 0.05 + 2.6 * np.sqrt(count * 0.05 * 0.95)
    assert sum(v.better_than_random for v in told) <= allowed
    assert sum(v.worse_than_random for v in told) <= allowed
    assert np.ptp(together.scores) > 0.1
