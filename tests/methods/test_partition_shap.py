"""PartitionSHAP on games that are known: the definition, the groups, and what happens when rows run out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import assay
import set_games
from assay.methods.input_features.partition_shap import Groups, PartitionShap, balanced, by_marks
from assay.text.text import Text

numbers = st.floats(-5, 5, allow_nan=False, width=32)


def halves(**settings: Any) -> PartitionShap:
    return PartitionShap(hierarchy="balanced", **settings)


@given(arrays(float, 16, elements=numbers))
def test_four_words_from_the_definition(values: Any) -> None:
    game, tree = set_games.table(values), ((0, 1), (2, 3))
    told = set_games.play(halves(), game, 4)
    assert len(set_games.orders_of(tree)) == 8
    np.testing.assert_allclose(told.scores, set_games.by_orders(game, 4, set_games.orders_of(tree)), atol=1e-10)
    assert told.facts["exact"] is True


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_other_lengths_from_the_definition(n: int) -> None:
    game = set_games.network(n, n)
    told = set_games.play(halves(), game, n)
    orders = set_games.orders_of(balanced(range(n)))
    np.testing.assert_allclose(told.scores, set_games.by_orders(game, n, orders), atol=1e-10)


def test_a_game_one_can_do_in_the_head() -> None:
    """Words 0 and 2 count only together: each of their groups gets half, and the word in it all of that."""
    told = set_games.play(halves(), lambda keep: 6.0 * keep[:, 0] * keep[:, 2] + 2.0 * keep[:, 1] + 1, 4)
    np.testing.assert_allclose(told.scores, [3, 2, 3, 0], atol=1e-12)
    assert (told.facts["value"], told.facts["baseline"]) == pytest.approx((9, 1))


def test_groups_matter() -> None:
    """Three words of which any two make 1: a pair that comes as one takes all from the third, unlike Shapley values."""
    told = set_games.play(halves(), lambda keep: (keep.sum(axis=1) >= 2).astype(float), 3)
    np.testing.assert_allclose(told.scores, [0.5, 0.5, 0], atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 13), st.integers(0, 200))
def test_the_scores_sum_to_what_they_should_and_rows_are_kept(seed: int, n: int, rows: int) -> None:
    values = np.random.default_rng(seed).normal(size=2**n)
    asked: list[Any] = []
    told = set_games.play(halves(max_evals=rows), set_games.table(values), n, asked=asked)
    assert told.scores.sum() == pytest.approx(values[-1] - values[0], abs=1e-9)
    assert told.facts["samples"] == sum(map(len, asked)) <= max(2, rows)
    assert bool(told.warnings) != told.facts["exact"]


@given(arrays(float, 16, elements=numbers), st.integers(0, 4))
def test_a_word_that_changes_nothing_gets_nothing(values: Any, dummy: int) -> None:
    game = set_games.table(values)
    told = set_games.play(halves(), lambda keep: game(np.delete(keep, dummy, axis=1)), 5)
    assert told.scores[dummy] == pytest.approx(0, abs=1e-10)


def test_a_linear_game_gives_its_weights() -> None:
    weights = np.random.default_rng(0).normal(size=40)
    told = set_games.play(halves(max_evals=2000), lambda keep: keep @ weights - 1, 40)
    np.testing.assert_allclose(told.scores, weights, atol=1e-10)


def test_with_two_rows_all_words_share_equally() -> None:
    told = set_games.play(halves(max_evals=3), lambda keep: keep @ np.arange(4.0), 4)
    np.testing.assert_allclose(told.scores, [1.5] * 4)
    assert told.warnings == ("unfinished: too few rows, so 1 group of words shares equally; raise max_evals",)


def test_the_largest_share_is_split_first() -> None:
    """Rows for two splits: the whole, and then a half in one of its two contexts; the right half is the larger one."""
    told = set_games.play(halves(max_evals=6), lambda keep: keep @ np.array([1.0, 2.0, 10.0, 30.0]), 4)
    np.testing.assert_allclose(told.scores, [1.5, 1.5, (10 + 20) / 2, (30 + 20) / 2])


def test_enough_rows_take_as_many_rounds_as_the_tree_is_deep() -> None:
    asked: list[Any] = []
    set_games.play(halves(), set_games.network(16, 0), 16, asked=asked)
    assert [len(rows) for rows in asked] == [2, 2, 8, 32, 128]
    everything = np.concatenate(asked)
    assert len(np.unique(everything, axis=0)) == len(everything), "no row twice"


def test_the_number_of_splits() -> None:
    assert Groups.of(balanced(range(16))).splits == (2 + 8 + 32 + 128) / 2
    assert Groups.of(0).splits == 0
    assert Groups.of((((0, 1), 2), 3)).splits == 1 + 2 + 4


def test_more_rows_less_error() -> None:
    n, games = 24, [set_games.network(24, seed) for seed in range(6)]
    truths = [set_games.play(halves(max_evals=10_000), game, n).scores for game in games]
    errors = [
        np.mean(
            [
                np.abs(set_games.play(halves(max_evals=rows), g, n).scores - t)
                for g, t in zip(games, truths, strict=True)
            ]
        )
        for rows in (2, 30, 90, 250, 500)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 0
    assert errors[-1] == 0


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("one", 0),
        ("a b c d", ((0, 1), (2, 3))),
        ("a b , c", (((0, 1), 2), 3)),
        ("a . b c", ((0, 1), (2, 3))),
        ("a b ! ? c d", (((0, 1), (2, 3)), (4, 5))),
        ("a , b . c d e", ((((0, 1), (2, 3))), ((4, 5), 6))),
        (("a b", "c"), ((0, 1), 2)),
        (("a . b", "c , d e"), (((0, 1), 2), ((3, 4), (5, 6)))),
        (("", "c d"), (0, 1)),
        ("这部，好。", (((0, 1), 2), (3, 4))),
    ],
)
def test_groups_by_marks(text: Any, tree: Any) -> None:
    assert by_marks(Text.of(text)) == tree


def test_marks_at_the_end_of_words() -> None:
    assert by_marks(Text.of("well, it is. so", split="whitespace")) == ((0, (1, 2)), 3)


def test_a_linear_bag_of_words_gives_its_weights() -> None:
    bow = tiny.linear_bow()
    for text in ("the film was good", "a gripping , funny film that never lets go of its audience ."):
        for hierarchy in ("text", "balanced"):
            e = assay.explain((bow.model, bow.tokenizer), text, "partition_shap", target=1, hierarchy=hierarchy)
            np.testing.assert_allclose(e.scores, [bow.weights.get(word, 0.0) for word in text.split()], atol=1e-6)


def test_equal_words_of_a_pair_are_kept_apart() -> None:
    def premise_counts(texts: list[Any]) -> Any:
        return [[0.5, 0.5] if isinstance(t, str) or "good" not in t[0] else [0.1, 0.9] for t in texts]

    model = assay.BlackBox(premise_counts, labels=["n", "p"])
    e = assay.explain(model, ("good film", "good film"), "partition_shap", target=1)
    np.testing.assert_allclose(e.scores, [np.log(9), 0, 0, 0], atol=1e-12)
