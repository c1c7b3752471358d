"""KernelSHAP on games that are known: the definition, the axioms, the sampled estimate and how sure it says it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import assay
import set_games
from assay.errors import BadInput
from assay.methods.input_features.kernel_shap import KernelShap, linear

SURROGATES = ("smooth", "linear")
numbers = st.floats(-5, 5, allow_nan=False, width=32)
LONG = "a gripping , funny film that never lets go of its audience ."


def sampled(**settings: Any) -> KernelShap:
    return KernelShap(exact_up_to=0, **settings)


def error(told: Any, game: set_games.Game, n: int) -> float:
    truth = play_exact(game, n)
    return float(np.abs(told.scores - truth).mean() / np.abs(truth).mean())


def play_exact(game: set_games.Game, n: int) -> Any:
    return set_games.play(KernelShap(exact_up_to=n), game, n).scores


@given(arrays(float, 16, elements=numbers))
def test_four_words_from_the_definition(values: Any) -> None:
    game = set_games.table(values)
    told = set_games.play(KernelShap(), game, 4)
    np.testing.assert_allclose(told.scores, set_games.by_orders(game, 4), atol=1e-10)
    assert told.facts["exact"] is True
    assert told.facts["samples"] == 16


def test_a_game_one_can_do_in_the_head() -> None:
    """Two words that only count together, one that counts alone, one that does nothing."""
    told = set_games.play(KernelShap(), lambda keep: 6.0 * keep[:, 0] * keep[:, 1] + 2.0 * keep[:, 2] + 1, 4)
    np.testing.assert_allclose(told.scores, [3, 3, 2, 0], atol=1e-12)
    assert (told.facts["value"], told.facts["baseline"]) == pytest.approx((9, 1))


@given(arrays(float, 16, elements=numbers), st.integers(0, 4))
def test_a_word_that_changes_nothing_gets_nothing(values: Any, dummy: int) -> None:
    game = set_games.table(values)
    told = set_games.play(KernelShap(), lambda keep: game(np.delete(keep, dummy, axis=1)), 5)
    assert told.scores[dummy] == pytest.approx(0, abs=1e-10)


@given(arrays(float, 24, elements=numbers))
def test_words_that_do_the_same_get_the_same(values: Any) -> None:
    def game(keep: Any) -> Any:
        return values.reshape(3, 8)[keep[:, :2].sum(axis=1), keep[:, 2:] @ [1, 2, 4]]

    scores = set_games.play(KernelShap(), game, 5).scores
    assert scores[0] == pytest.approx(scores[1], abs=1e-10)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(11, 14), st.sampled_from([10, 31, 64, 200]), st.sampled_from(SURROGATES))
def test_the_scores_sum_to_what_they_should(seed: int, n: int, samples: int, surrogate: str) -> None:
    values = np.random.default_rng(seed).normal(size=2**n)
    told = set_games.play(sampled(samples=samples, surrogate=surrogate), set_games.table(values), n, seed)
    assert told.facts["exact"] is False
    assert told.scores.sum() == pytest.approx(values[-1] - values[0], abs=1e-9)
    assert told.facts["value"] - told.facts["baseline"] == pytest.approx(values[-1] - values[0], abs=1e-12)


@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("n", [5, 12, 40])
def test_a_linear_game_is_found_at_once(surrogate: str, n: int) -> None:
    weights = np.random.default_rng(n).normal(size=n)
    told = set_games.play(sampled(samples=4 * n, surrogate=surrogate), lambda keep: keep @ weights - 3, n)
    np.testing.assert_allclose(told.scores, weights, atol=1e-7)


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_a_game_of_no_value(surrogate: str) -> None:
    told = set_games.play(KernelShap(samples=64, surrogate=surrogate), lambda keep: np.full(len(keep), 2.5), 14)
    np.testing.assert_array_equal(told.scores, np.zeros(14))
    np.testing.assert_array_equal(told.facts["standard_errors"], np.zeros(14))


@pytest.mark.parametrize("settings", [{}, {"exact_up_to": 0, "samples": 40}, {"exact_up_to": 0, "surrogate": "linear"}])
def test_a_linear_bag_of_words_gives_its_weights(settings: dict[str, Any]) -> None:
    bow = tiny.linear_bow()
    for text in ("the film was good", LONG):
        e = assay.explain((bow.model, bow.tokenizer), text, "kernel_shap", target=1, **settings)
        weights = [bow.weights.get(word, 0.0) for word in text.split()]
        np.testing.assert_allclose(e.scores, weights, atol=1e-6)


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_more_samples_less_error(surrogate: str) -> None:
    n, games = 12, [set_games.network(12, seed) for seed in range(5)]
    errors = [
        np.mean([error(set_games.play(sampled(samples=rows, surrogate=surrogate), game, n), game, n) for game in games])
        for rows in (32, 64, 128, 256, 512, 1024)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 10


def test_the_smooth_surrogate_errs_less_than_the_linear_one() -> None:
    n, games = 12, [set_games.network(12, seed) for seed in range(6)]
    smooth, straight = (
        np.mean([error(set_games.play(sampled(surrogate=s), game, n), game, n) for game in games]) for s in SURROGATES
    )
    assert smooth < 0.75 * straight


def test_with_rows_for_everything_nothing_is_estimated() -> None:
    game = set_games.network(12, 1)
    told = set_games.play(KernelShap(samples=4096), game, 12)
    assert told.facts["exact"] is True
    np.testing.assert_allclose(told.scores, play_exact(game, 12), atol=1e-12)


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_the_standard_errors_are_true(surrogate: str) -> None:
    """Over many draws the errors made are as large as the errors told, within a third."""
    made, told = [], []
    for seed in range(24):
        game = set_games.network(12, seed)
        one = set_games.play(sampled(samples=200, surrogate=surrogate), game, 12, seed)
        made.append(one.scores - play_exact(game, 12))
        told.append(one.facts["standard_errors"])
    assert 3 / 4 < np.sqrt(np.mean(np.square(made)) / np.mean(np.square(told))) < 4 / 3


def test_rows_are_asked_once_and_in_pairs() -> None:
    asked: list[Any] = []
    told = set_games.play(KernelShap(samples=101), set_games.network(13, 0), 13, asked=asked)
    (rows,) = asked
    assert len(rows) == told.facts["samples"] == 100
    distinct = {row.tobytes() for row in rows}
    assert len(distinct) == 100
    assert {(~row).tobytes() for row in rows} == distinct


def test_thousands_of_samples_are_fitted_at_once() -> None:
    game = set_games.network(14, 0)
    smooth, straight = (set_games.play(sampled(samples=4200, surrogate=s), game, 14).scores for s in SURROGATES)
    np.testing.assert_array_equal(smooth, straight)


def test_a_long_text_gets_the_rows_it_needs_and_says_so() -> None:
    told = set_games.play(KernelShap(samples=64), set_games.network(60, 0), 60)
    assert told.facts["samples"] == 122
    assert told.warnings == ("too few samples: 60 words need at least 240 rows, and 122 were asked",)
    assert set_games.play(KernelShap(samples=240), set_games.network(60, 0), 60).warnings == ()


def test_the_seed_decides() -> None:
    game = set_games.network(12, 2)
    one, same, other = (set_games.play(sampled(samples=64), game, 12, seed).scores for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-3


def test_the_order_of_texts_does_not_matter() -> None:
    texts = [LONG, f"{LONG} it is not bad", "two dogs run through the tall grass chasing a yellow ball ."]
    forth = assay.explain(tiny.bert(), texts, "kernel_shap", samples=64)
    back = assay.explain(tiny.bert(), texts[::-1], "kernel_shap", samples=64)[::-1]
    for one, other in zip(forth, back, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)


def test_equal_words_of_a_pair_are_kept_apart() -> None:
    def premise_counts(texts: list[Any]) -> Any:
        return [[0.5, 0.5] if isinstance(t, str) or "good" not in t[0] else [0.1, 0.9] for t in texts]

    model = assay.BlackBox(premise_counts, labels=["n", "p"])
    e = assay.explain(model, ("good film", "good film"), "kernel_shap", target=1)
    np.testing.assert_allclose(e.scores, [np.log(9), 0, 0, 0], atol=1e-12)


def test_sentences_are_features_too() -> None:
    text = "It is good. It is long. " * 3
    e = assay.explain(tiny.bert(), text, "kernel_shap", split="sentences")
    assert len(e.scores) == 6
    assert e.facts["exact"] is True


def test_too_many_words_to_enumerate_are_refused() -> None:
    with pytest.raises(BadInput, match="exact_up_to=30 would ask"):
        set_games.play(KernelShap(exact_up_to=30), set_games.network(20, 0), 20)


def test_the_linear_surrogate_is_the_papers_regression() -> None:
    """All coalitions, unpaired, by plain weighted least squares with a large weight on the ends."""
    n, game = 6, set_games.network(6, 3)
    keep = set_games.every(n)
    sizes = keep.sum(axis=1)
    inner = (sizes > 0) & (sizes < n)
    weights = np.full(len(keep), 1e8)
    many = np.array([1, 6, 15, 20, 15, 6, 1])[sizes[inner]]
    weights[inner] = (n - 1) / (many * sizes[inner] * (n - sizes[inner]))
    design, root = np.column_stack([np.ones(len(keep)), keep]), np.sqrt(weights)
    paper = np.linalg.lstsq(design * root[:, None], game(keep) * root, rcond=None)[0][1:]
    half = inner & keep[:, 0]
    change = float(np.diff(game(keep[[0, -1]]))[0])
    ours, _ = linear(keep[half], weights[half], game(keep[half]) - game(~keep[half]), change)
    np.testing.assert_allclose(ours, paper, atol=1e-5)
    np.testing.assert_allclose(ours, set_games.by_orders(game, n), atol=1e-10)
