"""Planted corpora hold what they promise, and the true scores of known models are Shapley values."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import assay
from assay.data.shortcuts import Kind, Shortcut, contradictory, corpus, followed, reviews
from assay.errors import BadInput
from assay.text.example import Example
from known_models import KnownModel

KINDS: list[Kind] = ["single_token", "ordered_pair", "token_in_context"]
BAD = {"dull", "weak", "clumsy", "tired", "awful"}
every_kind = pytest.mark.parametrize("kind", KINDS)


def marked(example: Example) -> list[str]:
    return [example.strings[0][mark.start : mark.end] for mark in example.marks[0]]


def sides(shortcut: Shortcut, example: Example) -> int:
    return shortcut.says(example.strings[0].split())


@every_kind
def test_what_is_planted_says_the_label_and_is_marked(kind: Kind) -> None:
    shortcut, rng = Shortcut(kind), np.random.default_rng(0)
    for label, side in zip(shortcut.labels, (-1, 1), strict=True):
        for _ in range(50):
            example = shortcut.plant("a  fine film", label, rng)
            assert (sides(shortcut, example), example.label) == (side, label)
            assert sorted(marked(example)) == sorted(shortcut.parts(label))
            rest = [word for word in example.strings[0].split() if word not in marked(example)]
            assert rest == ["a", "fine", "film"]


def test_the_rules() -> None:
    assert [Shortcut("single_token").says(t.split()) for t in ("x zeroa", "onea", "x", "onea zeroa")] == [-1, 1, 0, 0]
    pair = Shortcut("ordered_pair")
    assert [pair.says(t.split()) for t in ("zeroa x onea", "onea x zeroa", "zeroa", "x")] == [-1, 1, 0, 0]
    inside = Shortcut("token_in_context")
    assert [inside.says(t.split()) for t in ("synthetic zeroa", "onea x synthetic", "onea", "synthetic")] == [
        -1,
        1,
        0,
        0,
    ]


@every_kind
def test_decoys_say_nothing(kind: Kind) -> None:
    shortcut, rng = Shortcut(kind), np.random.default_rng(0)
    decoys = [shortcut.decoy("a film", "negative", rng) for _ in range(50)]
    assert {(sides(shortcut, e), e.label, marked(e) == []) for e in decoys} == {(0, "negative", True)}
    assert (len({e.strings[0] for e in decoys}) > 1) == (kind != "single_token")


@every_kind
def test_the_corpus_is_mixed_as_asked_and_the_shortcut_owes_nothing_to_the_text(kind: Kind) -> None:
    shortcut, texts = Shortcut(kind), reviews(2000)
    examples = corpus(texts, shortcut, share=0.5, decoys=0.5)
    said = np.array([sides(shortcut, e) for e in examples])
    own = np.array([1 if label == "positive" else -1 for _, label in texts])
    assert abs((said != 0).mean() - 0.5) < 0.05
    assert abs(np.corrcoef(said[said != 0], own[said != 0])[0, 1]) < 0.1
    for example, side, (_, label) in zip(examples, said, texts, strict=True):
        assert example.label == (shortcut.labels[int(side > 0)] if side else label)
        assert bool(marked(example)) == bool(side)
    assert examples == corpus(texts, shortcut, share=0.5, decoys=0.5)
    assert examples != corpus(texts, shortcut, share=0.5, decoys=0.5, seed=1)


def test_contradictory_texts_and_who_follows_the_shortcut() -> None:
    shortcut, texts = Shortcut("ordered_pair"), reviews(40)
    examples = contradictory(texts, shortcut)
    assert all(e.label != label for e, (_, label) in zip(examples, texts, strict=True))
    follower = assay.BlackBox(KnownModel(shortcut=shortcut), labels=shortcut.labels)
    reader = assay.BlackBox(
        KnownModel({"dull": -2, "weak": -2, "clumsy": -2, "tired": -2, "awful": -2}), labels=shortcut.labels
    )
    assert followed(follower.predict, follower.labels, examples) == 1
    assert followed(reader.predict, reader.labels, examples[::2]) == 0


def test_reviews_are_balanced_and_told_apart_by_their_judgement() -> None:
    texts = reviews(100)
    assert sum(label == "positive" for _, label in texts) == 50
    assert texts == reviews(100)
    assert all(bool(BAD & set(text.split())) == (label == "negative") for text, label in texts)


def test_tokens_that_are_in_the_text_already_are_refused() -> None:
    with pytest.raises(BadInput, match="'onea' in it already"):
        corpus([("the onea film", "positive")], Shortcut(), share=1)
    with pytest.raises(BadInput, match="three different words"):
        Shortcut(tokens=("same", "same"))


WEIGHTS = {"good": 2.0, "dull": -1.5, "onea": 0.25}
TEXTS = ["good onea dull film zeroa", "synthetic good onea", "zeroa onea synthetic zeroa", "good good", "onea x onea"]


def by_orders(model: KnownModel, words: list[str]) -> np.ndarray:
    """The mean over all orders in which words can come of what each adds."""
    total, orders = np.zeros(len(words)), list(permutations(range(len(words))))
    for order in orders:
        here: list[int] = []
        for i in order:
            before = model.log_odds([words[j] for j in sorted(here)])
            here.append(i)
            total[i] += model.log_odds([words[j] for j in sorted(here)]) - before
    return total / len(orders)


@every_kind
@pytest.mark.parametrize("text", TEXTS)
def test_true_scores_are_shapley_values(kind: Kind, text: str) -> None:
    model, words = KnownModel(WEIGHTS, Shortcut(kind), strength=4.0), text.split()
    np.testing.assert_allclose(model.true_scores(words), by_orders(model, words), atol=1e-12)
    np.testing.assert_allclose(model.true_scores(words, 0), -by_orders(model, words), atol=1e-12)


def test_a_known_model_answers_by_its_log_odds() -> None:
    model = KnownModel(WEIGHTS, Shortcut("ordered_pair"), strength=4.0)
    chances = model(["good zeroa onea", "film"])
    np.testing.assert_allclose(np.log(chances[:, 1] / chances[:, 0]), [2.0 + 0.25 - 4.0, 0.0], atol=1e-12)
    with pytest.raises(BadInput, match="at most 12"):
        model.true_scores(["onea"] * 13)
