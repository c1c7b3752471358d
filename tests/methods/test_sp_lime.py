"""SP-LIME: the greedy cover against brute force, its rules, and the explanations that it is made over."""

from __future__ import annotations

import logging
import tracemalloc
from collections.abc import Sequence
from itertools import combinations
from math import e as euler
from typing import Any

import numpy as np
import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay import progress
from assay.engine.engine import Engine
from assay.errors import BadInput, EmptyText, Unanswerable, UnknownName
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.methods.ensemble.coverage import WordWeights
from assay.methods.ensemble.sp_lime import SpLime
from assay.methods.input_features.leave_one_out import LeaveOneOut
from assay.methods.input_features.lime import Lime
from assay.registry.parameters import parameters
from assay.statistics.greedy_cover import greedy_picks
from assay.text.text import Text

WEIGHTS = {"good": 2.0, "funny": 1.5, "dull": -2.0, "mess": -1.0, "warm": 0.5}


def chances(texts: list[Any]) -> Any:
    """Log-odds that are a sum of word weights, so that leave-one-out finds exactly these."""
    joined = [text if isinstance(text, str) else " ".join(text) for text in texts]
    return 1 / (1 + np.exp(-np.array([sum(WEIGHTS.get(w, 0.0) for w in text.lower().split()) for text in joined])))


@pytest.fixture
def model() -> assay.BlackBox:
    return assay.BlackBox(chances, labels=["bad", "good"], name="lexicon")


def described(model: Any, texts: Any, **settings: Any) -> assay.Selection:
    found = assay.describe(model, texts, "sp_lime", progress=False, **{"of": "leave_one_out", **settings})
    assert isinstance(found, assay.Selection)
    return found


def coverage(rows: Sequence[Sequence[int]], importance: Any, chosen: Sequence[int]) -> float:
    return float(sum(importance[j] for j in {j for i in chosen for j in rows[i]}))


small = st.integers(1, 7).flatmap(
    lambda words: st.tuples(
        st.lists(st.sets(st.integers(0, words - 1)).map(sorted), min_size=1, max_size=7),
        st.lists(st.floats(0.01, 100), min_size=words, max_size=words).map(np.array),
    )
)


def drawn(seed: int) -> tuple[list[list[int]], Any]:
    """Seven texts that share words of very different importance: small examples seldom make a pick matter."""
    rng = np.random.default_rng(seed)
    return [np.flatnonzero(rng.random(7) < 0.4).tolist() for _ in range(7)], rng.exponential(size=7)


matrices = small | st.integers(0, 2**32 - 1).map(drawn)


@given(matrices, st.integers(1, 8))
def test_each_pick_adds_most_and_none_is_picked_twice(matrix: Any, picks: int) -> None:
    rows, importance = matrix
    chosen = greedy_picks(rows, importance, picks)
    assert len(chosen) == len(set(chosen)) == min(picks, len(rows))
    for k, pick in enumerate(chosen):
        reached = {i: coverage(rows, importance, [*chosen[:k], i]) for i in range(len(rows)) if i not in chosen[:k]}
        assert reached[pick] == pytest.approx(max(reached.values()), rel=1e-9)
        assert reached[pick] >= coverage(rows, importance, chosen[:k])
    if picks >= len(rows):
        assert coverage(rows, importance, chosen) == coverage(rows, importance, range(len(rows)))


@given(matrices, st.integers(1, 4))
def test_greedy_reaches_what_is_promised_of_the_best(matrix: Any, picks: int) -> None:
    rows, importance = matrix
    many = min(picks, len(rows))
    best = max(coverage(rows, importance, some) for some in combinations(range(len(rows)), many))
    assert coverage(rows, importance, greedy_picks(rows, importance, picks)) >= (1 - 1 / euler) * best - 1e-9


def test_greedy_can_miss_the_best() -> None:
    """Or the bound above would be a bound on nothing: the first pick holds most, and no other pair needs it."""
    rows, importance = [[0, 1], [0, 2, 3], [1, 4, 5]], np.array([3.0, 3.0, 1.0, 1.0, 1.0, 1.0])
    assert greedy_picks(rows, importance, 2)[0] == 0
    assert coverage(rows, importance, greedy_picks(rows, importance, 2)) == 8
    assert coverage(rows, importance, [1, 2]) == 10


def test_among_equals_the_first_text_is_picked() -> None:
    rows, importance = [[2], [0, 1], [1, 0], [0, 1], [3]], np.array([0.1, 0.2, 0.2, 0.2])
    assert greedy_picks(rows, importance, 5) == [1, 0, 4, 2, 3]


def test_rounding_does_not_decide_between_equals() -> None:
    """The same three words in two texts, added in another order, come to sums that differ in the last bit."""
    importance = np.array([0.1, 0.2, 0.3])
    assert (0.1 + 0.2) + 0.3 != 0.1 + (0.2 + 0.3)
    assert greedy_picks([[0, 1, 2], [1, 2, 0]], importance, 1) == [0]
    assert greedy_picks([[1, 2, 0], [0, 1, 2]], importance, 1) == [0]


def scored(text: str, *scores: float) -> TokenScores:
    return TokenScores(Case(Text.of(text), 0), np.array(scores))


def test_words_are_told_apart_by_their_small_letters_and_equal_ones_are_added() -> None:
    weights = WordWeights().add(scored("Good film good", 1.0, 0.5, 2.0)).add(scored("bad GOOD", -4.0, -6.0))
    assert weights.words == ("good", "film", "bad")
    assert weights.importance == pytest.approx(np.sqrt([3.0 + 6.0, 0.5, 4.0]))
    assert weights.rows == ((0, 1), (0, 2))


def test_words_that_cancel_or_have_no_score_do_not_count() -> None:
    weights = WordWeights().add(scored("up down up", 1.0, 0.0, -1.0))
    assert weights.words == ()
    assert weights.rows == ((),)


def test_only_the_strongest_words_of_a_text_count() -> None:
    weights = WordWeights(2).add(scored("a b c d", 0.5, -3.0, 0.5, 2.0))
    assert weights.words == ("b", "d")
    tied = WordWeights(3).add(scored("a b c d", 0.5, -3.0, 0.5, 2.0))
    assert set(tied.words) == {"b", "d", "a"}  # of two equally strong ones the first in the text


def test_the_texts_with_the_words_that_matter_are_chosen(model: assay.BlackBox) -> None:
    texts = ["a film", "good and funny", "the end", "a dull mess", "warm", "good"]
    e = described(model, texts, picks=3)
    assert e.chosen == (1, 3, 4)
    assert e.covered == pytest.approx(1.0)
    assert set(e.covered_words) == set(WEIGHTS)
    assert next(iter(e.covered_words)) == "good"  # in two texts
    assert [m.text.strings[0] for m in e.maps] == [texts[i] for i in e.chosen]
    assert e.covered_words["dull"] == pytest.approx(np.sqrt(2.0), abs=1e-6)


def test_every_token_scores_method_can_be_picked_from(model: assay.BlackBox) -> None:
    texts = ["good and funny", "a dull mess", "warm"]
    by_string = described(model, texts, of="lime:samples=50,features=bag", picks=2)
    by_object = described(model, texts, of=Lime(samples=50, features="bag"), picks=2)
    assert by_string.about.parameters == {"of": "lime:samples=50,features=bag", "picks": 2, "words": 10}
    assert by_string.to_dict() == by_object.to_dict()
    assert by_string.maps[0].about.method == "lime"
    assert by_string.maps[0].about.parameters["samples"] == 50
    assert by_string.maps[0].about.model == "lexicon"
    again = assay.explain(model, texts[by_string.chosen[0]], "lime", samples=50, features="bag")
    np.testing.assert_allclose(by_string.maps[0].scores, again.scores, atol=1e-9)


def test_a_method_in_a_parameter_is_written_as_a_shell_gives_it() -> None:
    for of in ("lime", "leave_one_out:eraser=mask:_", "lime:samples=20,eraser=unknown:a,b"):
        made = SpLime(of=of)
        assert parameters(made)["of"] == of
        assert SpLime(**parameters(made)) == made
    assert SpLime(of=LeaveOneOut()) == SpLime(of="leave_one_out")


@pytest.mark.parametrize(
    ("of", "error", "said"),
    [
        ("anchors", BadInput, "anchors returns TokenRule; a method that returns TokenScores"),
        ("sp_lime", BadInput, "sp_lime returns Selection"),
        ("lime:samples", BadInput, "name:key=value,key=value, not 'lime:samples'"),
        ("lime:smaples=3", UnknownName, "did you mean 'samples'"),
        ("lima", UnknownName, "did you mean 'lime'"),
        (3, UnknownName, "3 is no method"),
    ],
)
def test_what_cannot_be_picked_from_is_named(of: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        SpLime(of=of)


@pytest.mark.parametrize("wrong", [{"picks": 0}, {"words": 0}])
def test_picks_and_words_are_counted_from_one(wrong: dict[str, int]) -> None:
    with pytest.raises(BadInput, match="needs picks >= 1 and words >= 1"):
        SpLime(**wrong)


def test_what_the_inner_method_asks_is_asked(model: assay.BlackBox) -> None:
    with pytest.raises(Unanswerable, match=r"sp_lime asks for InputGradient.*Choose another method by `of`"):
        described(model, ["good"], of="gradient")


def test_a_text_that_cannot_be_explained_is_named(model: assay.BlackBox) -> None:
    with pytest.raises(EmptyText, match=r"the list, row 2: the text ' ' has no word"):
        described(model, ["good", " ", "dull"])


def test_the_seed_reaches_the_explanations(model: assay.BlackBox) -> None:
    one, two, same = (described(model, ["good and funny"], of="random", seed=seed).maps[0] for seed in (1, 2, 1))
    np.testing.assert_array_equal(one.scores, same.scores)
    assert not np.array_equal(one.scores, two.scores)


def test_the_target_reaches_the_explanations(model: assay.BlackBox) -> None:
    e = described(model, ["good", "dull"], target="bad")
    assert [m.label for m in e.maps] == ["bad", "bad"]


def test_warnings(model: assay.BlackBox) -> None:
    assert described(model, ["good", "dull"], picks=2).warnings == ()
    assert described(model, ["good", "dull"], picks=3).warnings == (
        "the sample has only 2 texts, so all of them are chosen",
    )
    assert described(model, ["good", "good", "good"], picks=2).warnings == (
        "the first 1 texts cover every word; the others add nothing",
    )
    empty = described(model, ["the", "end"], picks=1)
    assert empty.warnings == ("no word of any text has a score other than 0, so there is nothing to cover",)
    assert empty.covered == 0


def test_half_precision_is_said_to_be_unmeasured() -> None:
    e = described(assay.load(tiny.bert(), dtype="bf16"), ["good film", "a dull mess"], picks=1)
    assert e.warnings == ("bf16: not measured against float32",)


def test_pairs_and_labels() -> None:
    pairs = assay.BlackBox(chances, labels=["bad", "good"], name="pairs")
    pairs.fields = ("premise", "hypothesis")
    e = described(pairs, [("good", "film"), ("dull", "mess")], picks=1)
    assert e.maps[0].text.strings == ("dull", "mess")
    labelled = described(pairs, [(("good", "film"), "good"), (("dull", "mess"), "bad")], picks=1)
    assert labelled.maps[0].text.strings == ("dull", "mess")
    single = assay.BlackBox(chances, labels=["bad", "good"])
    assert described(single, [("good film", "good"), ("a dull mess", "bad")], picks=1).maps[0].words == (
        "a",
        "dull",
        "mess",
    )


def test_memory_does_not_grow_with_the_explanations(model: assay.BlackBox) -> None:
    """Of a text only its words and their weights stay: less than a kilobyte, where an explanation takes two more."""

    def peak(size: int) -> int:
        sample = assay.Sample.of([f"good film {i % 7} dull {i % 11}" for i in range(size)])
        tracemalloc.start()
        assay.describe(model, sample, SpLime(of="leave_one_out"), progress=False, engine=Engine(model, live=16))
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    grown = (peak(500) - peak(200)) / 300
    assert grown < 1500


def test_progress_counts_the_texts(
    model: assay.BlackBox, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_EVERY", -1.0)
    with caplog.at_level(logging.INFO, logger="assay"):
        assay.describe(model, ["good", "dull", "warm"], "sp_lime", of="leave_one_out", picks=1)
    assert [message.partition(",")[0] for message in caplog.messages] == [f"describing: {i} of 3" for i in (1, 2, 3)]
