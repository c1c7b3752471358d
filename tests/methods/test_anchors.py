"""Anchors on functions whose rules are known; precision against enumeration of all versions of a text."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.token_rule import TokenRule
from assay.methods.input_features.anchors import Anchors
from assay.questions.answers import Predictions
from assay.questions.predict import Predict
from assay.text.text import Text

Truth = Callable[[list[str]], bool]


def box(truth: Truth) -> assay.BlackBox:
    """A model that is sure of what the function says of the words."""
    return assay.BlackBox(
        lambda texts: [0.9 if truth(text.split()) else 0.1 for text in texts], labels=["no", "yes"], name="known"
    )


def found(truth: Truth, text: str, **settings: Any) -> TokenRule:
    return assay.explain(box(truth), text, "anchors", progress=False, **settings)  # type: ignore[no-any-return]


def precision(truth: Truth, words: list[str], rule: tuple[int, ...], target: bool) -> float:
    """By enumeration: the share of all versions with these words that keep the answer."""
    kept = [keep for keep in product([True, False], repeat=len(words)) if all(keep[i] for i in rule)]
    versions = ([w for w, k in zip(words, keep, strict=True) if k] for keep in kept)
    return sum(truth(version) == target for version in versions) / len(kept)


def not_good(words: list[str]) -> bool:
    """Good, unless it is not."""
    return "good" in words and "not" not in words


@pytest.mark.parametrize("seed", range(5))
def test_a_known_rule_is_found(seed: int) -> None:
    def both(words: list[str]) -> bool:
        return "not" in words and "good" in words

    e = found(both, "the film was not a good one", seed=seed)
    assert e.anchor == (3, 5)
    assert e.anchor_words == ("not", "good")
    assert e.label == "yes"
    assert e.facts["certified"]
    assert e.coverage == 0.25
    assert not e.warnings


def test_the_shortest_rule_is_found() -> None:
    e = found(not_good, "it was not good and not fun", target="no")
    assert e.anchor in ((2,), (5,))
    assert e.precision == 1
    assert e.interval[0] >= 0.95


@cache
def noise(seed: int) -> Truth:
    """An arbitrary function of the version, mostly true where the second and the last word are there."""

    def truth(words: list[str]) -> bool:
        drawn = blake2b(f"{seed} {' '.join(words)}".encode(), digest_size=2).digest()
        often = 250 if {"b", "g"} <= set(words) else 60
        return words == list("abcdefg") or drawn[0] < often

    return truth


@pytest.mark.parametrize("beam", [1, 4])
def test_the_interval_contains_the_exact_precision(beam: int) -> None:
    words, inside = list("abcdefg"), []
    for seed in range(20):
        e = found(noise(seed), " ".join(words), seed=seed, beam=beam, limit=3000)
        exact = precision(noise(seed), words, e.anchor, True)
        inside.append(e.interval[0] <= exact <= e.interval[1])
        assert abs(e.precision - exact) < 5 * np.sqrt(max(exact * (1 - exact), 0.01) / e.samples)
    assert sum(inside) >= 18


@pytest.mark.parametrize("seed", range(6))
def test_what_is_certified_is_an_anchor_and_none_is_shorter(seed: int) -> None:
    """A function of which 8 words are counted with random weights; every shorter rule is enumerated."""
    words = list("abcdefgh")
    weights = dict(zip(words, np.random.default_rng(seed).normal(size=8), strict=True))

    def truth(kept: list[str]) -> bool:
        return sum(weights[word] for word in kept) > 0

    e = found(truth, " ".join(words), seed=seed, limit=40_000)
    target = truth(words)
    assert e.facts["certified"]
    assert precision(truth, words, e.anchor, target) >= 0.95
    shorter = [rule for size in range(len(e.anchor)) for rule in combinations(range(8), size)]
    # A rule whose precision lies just above the threshold may honestly stay undecided.
    assert max(precision(truth, words, rule, target) for rule in shorter) < 0.97


def decoy(words: list[str]) -> bool:
    """Word c alone says most, but only a and b together are enough with two words."""
    return {"a", "b"} <= set(words) or ("c" in words and len({"d", "e", "f", "g"} & set(words)) >= 2)


def test_a_beam_finds_what_greed_misses() -> None:
    text = "c a d b e f g"
    narrow, wide = found(decoy, text, beam=1), found(decoy, text, beam=4)
    assert wide.anchor_words == ("a", "b")
    assert "c" in narrow.anchor_words
    assert narrow.facts["certified"]
    assert narrow.coverage is not None
    assert wide.coverage is not None
    assert wide.coverage > narrow.coverage


def test_the_same_seed_gives_the_same_rule() -> None:
    one, two, other = (found(noise(0), "a b c d e f g", seed=seed).to_dict() for seed in (4, 4, 5))
    assert one == two
    assert one["facts"] != other["facts"]


def test_one_word() -> None:
    needed = found(lambda words: "good" in words, "good")
    assert (needed.anchor, needed.precision, needed.coverage) == ((0,), 1, 0.5)
    free = found(lambda words: True, "good")
    assert (free.anchor, free.precision, free.coverage) == ((), 1, 1)
    assert free.facts["certified"]


def test_two_identical_words() -> None:
    either = found(lambda words: "good" in words, "good good")
    assert either.anchor == (0,)
    both = found(lambda words: words.count("good") == 2, "good good")
    assert both.anchor == (0, 1)
    assert both.anchor_words == ("good", "good")


def either(words: list[str]) -> bool:
    return "alpha" in words or "Beta" in words


CORPUS = ("a beta", "beta: more", "Beta!", "an alphabet", "alpha", "")


def test_coverage_is_measured_on_the_corpus_and_decides() -> None:
    plain, measured = found(either, "alpha Beta x"), found(either, "alpha Beta x", corpus=CORPUS)
    assert plain.anchor == (0,)
    assert (plain.coverage, plain.facts["coverage_of"]) == (0.5, "samples")
    assert measured.anchor == (1,)
    assert (measured.coverage, measured.facts["coverage_of"]) == (pytest.approx(3 / 6), "corpus")


def test_words_of_a_corpus_are_whole_words() -> None:
    e = found(lambda words: "alpha" in words, "alpha x", corpus=("an alphabet", "Alpha!", "x", "alphas"))
    assert (e.anchor, e.coverage) == ((0,), 0.25)


def test_with_a_corpus_a_longer_rule_may_be_the_better_one() -> None:
    """One rare word is enough, but two common ones reach further."""

    def truth(words: list[str]) -> bool:
        return "rare" in words or {"two", "common"} <= set(words)

    corpus = ("two common words", "common things in two", "two", "something rare")
    assert found(truth, "a rare two common").anchor_words == ("rare",)
    e = found(truth, "a rare two common", corpus=corpus)
    assert (e.anchor_words, e.coverage) == (("two", "common"), 0.5)


def test_a_phrase_is_found_in_a_corpus_as_a_whole() -> None:
    e = found(
        lambda w: "good" in w, "a good film. so it is.", split="sentences", corpus=("A good film!", "good a film")
    )
    assert e.anchor_words == ("a good film.",)
    assert e.coverage == 0
    longer = found(lambda w: "good" in w, "a good film . so", split="sentences", corpus=("A good film . so", "a good"))
    assert longer.coverage == 0.5


def parity(words: list[str]) -> bool:
    """Nothing short of all words says anything."""
    return len(words) % 2 == 0


def test_no_anchor_and_a_spent_limit_are_said() -> None:
    e = found(parity, "a b c d e f", limit=150)
    assert not e.facts["certified"]
    assert e.facts["samples"] <= 150
    assert e.warnings[0].startswith("no anchor")
    assert e.warnings[1].startswith("limit")
    assert e.interval[0] < 0.95
    assert found(parity, "a b c d e f", limit=40_000).anchor == (0, 1, 2, 3, 4, 5)


def test_without_an_anchor_the_likeliest_rule_is_told() -> None:
    """With the second word nine in ten versions keep the answer, without it a quarter."""

    def truth(words: list[str]) -> bool:
        drawn = blake2b(" ".join(words).encode(), digest_size=1).digest()[0]
        return words == list("abcdefghij") or drawn < (230 if "b" in words else 64)

    e = found(truth, "a b c d e f g h i j", threshold=0.999, limit=2000)
    assert not e.facts["certified"]
    assert "b" in e.anchor_words
    assert e.interval[0] > 0.7


def test_a_plain_case_needs_few_samples() -> None:
    e = found(lambda words: "good" in words, " ".join(["x"] * 12 + ["good"] + ["y"] * 12))
    assert e.anchor_words == ("good",)
    assert e.facts["samples"] < 600  # ten of each word, and the proof of one


@pytest.mark.parametrize("limit", [0, 1, 7, 60])
def test_tiny_limits_are_kept(limit: int) -> None:
    e = found(not_good, "it was not good and not fun", limit=limit)
    assert e.samples <= e.facts["samples"] <= limit
    assert any(said.startswith("limit") for said in e.warnings)


def test_another_label_than_the_predicted_one_is_said() -> None:
    e = found(not_good, "a good film", target="no")
    assert any(said.startswith("not the prediction") for said in e.warnings)
    assert not any(said.startswith("not the prediction") for said in found(not_good, "a good film").warnings)


def test_a_contrast_is_said() -> None:
    assert any(said.startswith("no contrast") for said in found(not_good, "a good film", against="no").warnings)


def test_the_conversation_by_hand() -> None:
    """Each round is one question with the samples of all rules of the round, their words always kept."""
    talk = Anchors().explain(Case(Text.of("x y good z"), 1))
    question, asked = next(talk), []
    while True:
        assert isinstance(question, Predict)
        rows = [row[0].split() for row in question.rows(box(not_good))]
        asked.append(rows)
        try:
            question = talk.send(Predictions(np.log([[0.1, 0.9] if not_good(row) else [0.9, 0.1] for row in rows])))
        except StopIteration as stop:
            told = stop.value
            break
    assert told.anchor == (2,)
    assert told.facts["rounds"] == len(asked) - 1
    assert told.facts["samples"] == sum(map(len, asked)) - 1
    assert [len(rows) for rows in asked[:2]] == [10, 40]
    for word, start in zip(("x", "y", "good", "z"), (0, 10, 20, 30), strict=True):
        assert all(word in row for row in asked[1][start : start + 10])
    assert asked[-1] == [["x", "y", "good", "z"]]


def test_many_texts_share_batches() -> None:
    calls = 0

    def count(texts: list[str]) -> list[float]:
        nonlocal calls
        calls += 1
        return [0.9 if not_good(text.split()) else 0.1 for text in texts]

    texts = [f"{word} makes it a good film" for word in ("this", "that", "he", "she", "rain", "love", "war", "she too")]
    together = assay.explain(assay.BlackBox(count, labels=["no", "yes"]), texts, "anchors", progress=False)
    assert [e.anchor_words for e in together] == [("good",)] * 8
    once, calls = calls, 0
    for text in texts:
        assay.explain(assay.BlackBox(count, labels=["no", "yes"]), text, "anchors", progress=False)
    assert calls > 4 * once


@pytest.mark.parametrize("eraser", ["delete", "unknown", "mask", "pad", "resample"])
def test_every_eraser(eraser: str) -> None:
    engine = Engine(assay.load(tiny.bert()), resolve=lambda name: assay.load(tiny.masked_lm()))
    e = assay.explain(engine.model, "a good film", "anchors", engine=engine, eraser=eraser, limit=300, progress=False)
    assert 0 < e.facts["samples"] <= 300
    assert e.about.parameters["eraser"] == eraser


def test_only_words_in_focus_can_be_anchors() -> None:
    model = assay.BlackBox(
        lambda pairs: [0.9 if "good" in p.split() or "good" in h.split() else 0.1 for p, h in pairs],
        labels=["no", "yes"],
    )
    e = assay.explain(model, ("a man", "a good dog"), "anchors", focus=["hypothesis"], progress=False)
    assert e.anchor_words == ("good",)
    assert e.anchor == (1,)
    assert assay.explain(model, ("a man", "a good dog"), "anchors", progress=False).anchor == (3,)


def test_a_rule_saves_and_loads() -> None:
    e = found(either, "alpha Beta x", corpus=CORPUS)
    assert TokenRule.from_json(e.to_json()).to_dict() == e.to_dict()
    for broken in ("{}", "[]", "5", '{"kind": "TokenRule"}', "nonsense"):
        with pytest.raises(BadInput):
            TokenRule.from_json(broken)


@pytest.mark.parametrize(
    "wrong",
    [
        {"anchor": (3,)},
        {"anchor": (-1,)},
        {"anchor": (1, 0)},
        {"anchor": (0, 0)},
        {"precision": 1.2},
        {"precision": float("nan")},
        {"interval": (0.9, 0.1)},
        {"coverage": 2.0},
    ],
)
def test_what_is_not_a_rule_is_refused(wrong: dict[str, Any]) -> None:
    right: dict[str, Any] = {"anchor": (0, 2), "precision": 0.5, "interval": (0.2, 0.9), "coverage": None}
    assert TokenRule(Case(Text.of("one two three"), 0), **right).anchor_words == ("one", "three")
    with pytest.raises(ValueError, match=r"anchor|precision"):
        TokenRule(Case(Text.of("one two three"), 0), **(right | wrong))
