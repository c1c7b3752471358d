"""Attention permutation against the loop of Algorithm 2, by hand-made answers, and calibrated on random maps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.checks.attention_permutation import AttentionPermutation
from assay.engine.engine import Engine
from assay.errors import BadInput, Unanswerable
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.answers import Predictions
from assay.questions.interventions import InterveneAttention
from assay.questions.predict import Predict
from assay.registry.finding import find_check
from assay.text.text import Text
from assay.verdicts import judge as judging
from attention_by_hand import ByHand

TEXTS = ["the plot was dull", "a slow sad and strangely beautiful story about loss", "great film", "very very good"]


def model(labels: int = 3, **more: Any) -> Any:
    return assay.load(tiny.attentive(num_labels=labels, **more))


def checked(model: Any, texts: list[Any], method: Any = "attention", **settings: Any) -> assay.Verdict:
    check = find_check("attention_permutation").make(settings)
    (told,) = assay.check(model, texts, [method], [check], draws=3, progress=False)
    return told


@pytest.mark.parametrize("labels", [2, 3])
def test_against_the_loop_of_the_paper(labels: int) -> None:
    network, tokenizer = tiny.attentive(num_labels=labels)
    told = checked(model(labels), TEXTS, permutations=30)
    for text, score in zip(TEXTS, told.scores, strict=True):
        hand = ByHand(network, tokenizer, text.split())
        rng = np.random.default_rng([0, Text.of(text).seed])
        before = hand.answer(hand.weights)
        tried = rng.permuted(np.tile(hand.weights, (30, 1)), axis=1)
        moved = []
        for attention in tried:
            after = hand.answer(attention)
            moved.append(0.5 * sum(abs(a - b) for a, b in zip(after, before, strict=True)))
        assert score == pytest.approx(np.median(moved), abs=1e-5)
    assert told.scores[:2].min() > 1e-3
    assert told.facts["placed"] == pytest.approx(0, abs=1e-6)


def by_hand(e: TokenScores, logits: list[list[float]], **settings: Any) -> Any:
    """The check with answers of our own to what it asks."""
    talk = AttentionPermutation(**settings).examine(e)
    assert isinstance(next(talk), Predict)
    asked = talk.send(Predictions(np.array(logits[:1])))
    assert isinstance(asked, InterveneAttention)
    with pytest.raises(StopIteration) as end:
        talk.send(Predictions(np.array(logits[1:])))
    return asked, end.value.value


def test_the_median_and_what_is_asked() -> None:
    e = TokenScores(Case(Text.of("a b c"), 0), np.array([-3.0, 1.0, 0.0]))
    even, up = [0.0, 0.0], [np.log(3), 0.0]
    asked, told = by_hand(e, [even, up, up, even, even], permutations=3)
    assert asked.weights[0].tolist() == [0.75, 0.25, 0]
    assert all(sorted(row) == [0, 0.25, 0.75] for row in asked.weights.tolist())
    assert told.score == pytest.approx(0.25)
    assert told.facts["placed"] == pytest.approx(0.25)
    assert told.facts["max_weight"] == 0.75


def test_a_map_of_zeros_is_uniform() -> None:
    e = TokenScores(Case(Text.of("a b c d"), 0), np.zeros(4))
    asked, told = by_hand(e, [[0.0, 0.0]] * 4, permutations=2)
    assert (asked.weights == 0.25).all()
    assert told.score == 0


def test_one_word_scores_zero_and_is_counted() -> None:
    told = checked(model(), ["dull", "the plot was dull"])
    assert told.scores[0] == 0
    assert told.scores[1] > 0
    assert "one word: there is nothing to shuffle, so the text scores 0 (1 of 2 texts)" in told.warnings


def test_company_does_not_matter_and_the_seed_does() -> None:
    together = checked(model(), TEXTS).scores
    alone = [checked(model(), [text]).scores[0] for text in TEXTS]
    assert together == pytest.approx(alone, abs=1e-5)


def test_other_maps_and_pairs_can_be_put_to_it() -> None:
    told = checked(model(), TEXTS, method="leave_one_out")
    assert told.facts["placed"] > 1e-3
    pair = checked(model(pair=True), [("the plot was dull", "great film")], method="leave_one_out")
    assert np.isfinite(pair.scores).all()


def test_what_cannot_be_done_is_said() -> None:
    with pytest.raises(BadInput, match="permutations >= 1"):
        AttentionPermutation(permutations=0)
    box = assay.BlackBox(lambda texts: [0.5] * len(texts), labels=["a", "b"], name="box")
    with pytest.raises(Unanswerable, match="asks for InterveneAttention, which the model box cannot answer"):
        checked(box, TEXTS, method="leave_one_out")


def random_explanations(count: int) -> tuple[Engine, list[TokenScores]]:
    """Texts of random words under random maps, drawn apart from those that a verdict draws."""
    rng = np.random.default_rng(3)
    words = [word for word in " ".join(tiny.CORPUS[:12]).split() if word.isalpha()]
    texts = [Text.of(" ".join(rng.choice(words, rng.integers(5, 12)))) for _ in range(count)]
    return Engine(model()), [TokenScores(Case(text, 0), rng.normal(size=len(text))) for text in texts]


@pytest.mark.slow
def test_random_explanations_are_not_better_than_random() -> None:
    count, draws = 500, 19  # one in ten would be seen in 97 of 100 such samples
    engine, maps = random_explanations(count)
    card = find_check("attention_permutation")
    (together,) = judging.judge(engine, maps, [card.make({"permutations": 8})], draws=draws, progress=False)
    rows = [slice(i, i + 1) for i in range(count)]
    told = [replace(together, scores=together.scores[r], random_scores=together.random_scores[r]) for r in rows]
    allowed = count * 0.05 + 2.6 * np.sqrt(count * 0.05 * 0.95)
    assert sum(v.better_than_random for v in told) <= allowed
    assert sum(v.worse_than_random for v in told) <= allowed
    # A map that lies on one word moves the answer more than random ones do: the check can tell maps apart.
    peaks = [e.told(scores=np.eye(len(e.text))[0]) for e in maps[:60]]
    (peaked,) = judging.judge(engine, peaks, [card.make({"permutations": 15})], draws=draws, progress=False)
    assert peaked.better_than_random
