"""LIME: its samples, its kernel, its two surrogates, how sure it says it is, and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
import tiny
from scipy.special import expit, logit
from scipy.stats import chisquare
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import cosine_distances

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.case import Case
from assay.methods.input_features.lime import Lime, neighbours, proximity
from assay.methods.input_features.surrogates import Surrogate, l1_logistic, ridge
from assay.models import BlackBox
from assay.questions.answers import Predictions
from assay.questions.predict import Predict
from assay.text.text import Text

WORDS = "alpha beta gamma delta epsilon zeta eta theta".split()
Score = Callable[[frozenset[str]], float]


def box(score: Score, asked: list[str] | None = None) -> BlackBox:
    """A model whose log-odds are a function of the words that a text has."""

    def probabilities(texts: list[str]) -> Any:
        if asked is not None:
            asked.extend(texts)
        return expit([score(frozenset(text.split())) for text in texts])

    return BlackBox(probabilities, labels=["no", "yes"])


def bent(words: frozenset[str]) -> float:
    """A linear part, and three words of which each pair adds up to something else."""
    linear = sum(0.3 * (i - 3) for i, word in enumerate(WORDS) if word in words)
    return linear + 1.5 * ({"alpha", "theta"} <= words) - ({"beta", "gamma"} <= words)


def noisy(z: Any, seed: int = 0) -> Any:
    """A function of the mask that no linear model can follow."""
    rng = np.random.default_rng(seed)
    return z @ rng.normal(size=z.shape[1]) + np.tanh(z @ rng.normal(size=(z.shape[1], 16))) @ rng.normal(size=16)


def test_the_conversation_by_hand() -> None:
    talk = Lime(samples=6).explain(Case(Text.of("good film"), 1))
    question = next(talk)
    assert isinstance(question, Predict)
    rows = [row for (row,) in question.rows(BlackBox(lambda texts: texts, labels=["n", "p"]))]
    assert rows[0] == "good film"
    assert set(rows[1:]) <= {"good", "film", ""}
    values = np.array([{"good film": 3.0, "good": 2.0, "film": 1.0, "": 0.0}[row] for row in rows])
    with pytest.raises(StopIteration) as stop:
        talk.send(Predictions(np.stack([0 * values, values], axis=1)))
    z = np.array([["good" in row, "film" in row] for row in rows])
    near = np.exp(-((100 * (1 - np.sqrt(z.mean(axis=1)))) ** 2) / 25**2 / 2)
    by_sklearn = Ridge(alpha=1).fit(z, values, sample_weight=near)
    np.testing.assert_allclose(stop.value.value.scores, by_sklearn.coef_, atol=1e-10)
    assert stop.value.value.facts["r2"] == pytest.approx(by_sklearn.score(z, values, near))


def test_how_many_words_go_is_uniform_and_which_ones_too() -> None:
    n, samples = 6, 60_000
    kept = neighbours(np.random.default_rng(0), n, samples + 1)
    assert kept[0].all()
    gone = ~kept[1:]
    sizes = np.bincount(gone.sum(axis=1), minlength=n + 1)
    assert sizes[0] == 0
    assert chisquare(sizes[1:]).pvalue > 0.001
    for size in range(1, n):
        which = gone[gone.sum(axis=1) == size] @ (1 << np.arange(n))
        counts = np.unique(which, return_counts=True)[1]
        assert len(counts) == comb(n, size)
        assert chisquare(counts).pvalue > 0.001


@pytest.mark.parametrize("width", [25.0, 3.0])
def test_the_kernel_is_that_of_the_cosine_distance(width: float) -> None:
    kept = neighbours(np.random.default_rng(1), 7, 300)
    kept[5] = False
    distance = 100 * cosine_distances(kept, np.ones((1, 7)))[:, 0]
    np.testing.assert_allclose(proximity(kept, width), np.sqrt(np.exp(-(distance**2) / width**2)), atol=1e-12)


def test_an_endless_kernel_weighs_all_samples_alike() -> None:
    assert (proximity(neighbours(np.random.default_rng(1), 7, 30), float("inf")) == 1).all()


@pytest.mark.parametrize("penalty", [0.0, 1.0, 30.0])
def test_the_ridge_is_that_of_scikit_learn(penalty: float) -> None:
    z = neighbours(np.random.default_rng(2), 9, 400)
    y, near = noisy(z), proximity(z, 25)
    theirs = Ridge(alpha=penalty).fit(z, y, sample_weight=near)
    ours = ridge(z, y, near, penalty)
    np.testing.assert_allclose(ours.weights, theirs.coef_, atol=1e-8)
    assert (ours.intercept, ours.r2) == pytest.approx((theirs.intercept_, theirs.score(z, y, near)), abs=1e-8)
    np.testing.assert_allclose(ours.free, Ridge(alpha=0).fit(z, y, sample_weight=near).coef_, atol=1e-8)


def test_the_ridge_with_more_features_than_samples() -> None:
    z = neighbours(np.random.default_rng(2), 60, 25)
    y, near = noisy(z), proximity(z, 25)
    theirs = Ridge(alpha=1).fit(z, y, sample_weight=near)
    ours = ridge(z, y, near)
    np.testing.assert_allclose(ours.weights, theirs.coef_, atol=1e-8)
    assert (ours.intercept, ours.r2) == pytest.approx((theirs.intercept_, theirs.score(z, y, near)), abs=1e-8)


@pytest.mark.parametrize("penalty", [0.0, 2.0, 12.0])
def test_the_logistic_surrogate_is_at_its_optimum(penalty: float) -> None:
    """The conditions of the survey's eq. 4: the slope of the loss is the penalty where a weight is not zero."""
    z = neighbours(np.random.default_rng(3), 9, 400)
    y, near = expit(noisy(z)), proximity(z, 25)
    fit = l1_logistic(z, y, near, penalty)
    gaps = near * (y - expit(fit.intercept + z @ fit.weights))
    slopes, used = z.T @ gaps, fit.weights != 0
    assert abs(gaps.sum()) < 1e-4
    np.testing.assert_allclose(slopes[used], penalty * np.sign(fit.weights[used]), atol=1e-4)
    assert (np.abs(slopes[~used]) <= penalty + 1e-4).all()
    assert used.sum() == {0.0: 9, 2.0: 7, 12.0: 2}[penalty]


def test_a_logistic_function_is_given_back() -> None:
    z = neighbours(np.random.default_rng(4), 6, 500)
    true = np.array([1.0, -2.0, 0.0, 0.5, 3.0, -0.1])
    fit = l1_logistic(z, expit(z @ true - 1), proximity(z, 25), 0.0)
    np.testing.assert_allclose(fit.weights, true, atol=1e-5)
    assert (fit.intercept, fit.r2) == pytest.approx((-1, 1), abs=1e-5)


def expected(n: int, samples: int) -> tuple[Any, Any]:
    """All masks, and how often each is drawn on average."""
    z = np.array(list(product([False, True], repeat=n)))
    gone = (~z).sum(axis=1)
    chance = np.array([1 / n / comb(n, g) if g else 0.0 for g in gone])
    return z, chance * (samples - 1) + (gone == 0)


@pytest.mark.parametrize("surrogate", [ridge, l1_logistic])
@pytest.mark.parametrize("samples", [60, 400])
def test_the_intervals_hold_what_all_masks_without_penalty_would_give(surrogate: Any, samples: int) -> None:
    n, held = 6, []
    z, counts = expected(n, samples)
    for seed in range(100):
        y = noisy(z, seed) if surrogate is ridge else expit(noisy(z, seed) / 2)
        truth = surrogate(z, y, proximity(z, 25) * counts, 0.0).weights
        drawn = neighbours(np.random.default_rng([seed, 7]), n, samples)
        values = y[drawn @ (1 << np.arange(n)[::-1])]
        low, high = surrogate(drawn, values, proximity(drawn, 25), 0.1).intervals().T
        held.append((low <= truth) & (truth <= high))
    assert 0.92 < np.mean(held) < 0.985


@pytest.mark.parametrize("text", ["the film was good", "good good not good", "a slow and dull plot , really"])
def test_a_linear_model_gives_its_weights(text: str) -> None:
    bow = tiny.linear_bow(double=True)
    true = np.array([bow.weights.get(word, bow.weights["[UNK]"]) for word in text.split()])
    exact = assay.explain((bow.model, bow.tokenizer), text, "lime", target=1, penalty=0)
    np.testing.assert_allclose(exact.scores, true, atol=1e-6)
    assert exact.facts["r2"] == pytest.approx(1)
    shrunk = assay.explain((bow.model, bow.tokenizer), text, "lime", target=1)
    low, high = np.array(shrunk.facts["intervals"]).T
    assert (np.abs(shrunk.scores - true) <= 3 * (high - low) / 2 / 1.96).all()
    assert (np.abs(shrunk.scores - true) <= 0.05 * np.abs(true).max()).all()
    assert (low - 1e-6 <= true).all()
    assert (true <= high + 1e-6).all()


def test_one_word_stands_against_the_empty_text() -> None:
    e = assay.explain(box(lambda words: 3.0 * ("good" in words)), "good", "lime")
    empty = 999 * np.exp(-8)
    spread = empty / (1 + empty)
    assert e.scores[0] == pytest.approx(3 * spread / (spread + 1))
    (low, high) = e.facts["intervals"][0]
    assert low <= 3 <= high
    assert e.facts["stable"]
    assert e.facts["settled"] == 1


def test_the_seed_decides_and_the_company_does_not() -> None:
    texts = [" ".join(WORDS[:n]) for n in (8, 5, 3)]
    one = assay.explain(box(bent), texts, "lime", samples=200)
    two = assay.explain(box(bent), texts[::-1], "lime", samples=200)[::-1]
    other = assay.explain(box(bent), texts, "lime", samples=200, seed=1)
    for a, b, c in zip(one, two, other, strict=True):
        np.testing.assert_array_equal(a.scores, b.scores)
        assert np.abs(a.scores - c.scores).max() > 1e-4


def steps(weights: dict[str, float], bend: float) -> Score:
    return lambda words: sum(weights.get(w, 0.0) for w in words) + bend * ({"alpha", "beta"} <= words)


def test_sampling_stops_when_the_order_is_clear() -> None:
    clear = steps(dict(zip(WORDS, [8.0, -6.0, 4.5, 3.0, -1.8, 0.8, 0.2, 0.1], strict=True)), 0.5)
    e = assay.explain(box(clear), " ".join(WORDS), "lime", samples=5000, stop="stable")
    assert e.facts["stable"]
    assert e.facts["settled"] == 5
    assert e.facts["samples"] < 1000
    assert e.about.cost.sequences == e.facts["samples"] + 1
    assert not e.warnings


def test_equal_words_are_never_ordered() -> None:
    tie = steps({"alpha": 2.0, "beta": 2.0, "gamma": 1.0}, 0.7)
    settings = {"samples": 600, "top_k": 2}
    e = assay.explain(box(tie), " ".join(WORDS), "lime", stop="stable", **settings)
    assert (e.facts["stable"], e.facts["settled"], e.facts["samples"]) == (False, 0, 600)
    assert "unstable" in e.warnings[0]
    plain = assay.explain(box(tie), " ".join(WORDS), "lime", **settings)
    np.testing.assert_allclose(plain.scores, e.scores, atol=1e-12)
    assert not plain.facts["stable"]
    assert not plain.warnings


def test_an_order_that_is_called_stable_comes_again() -> None:
    """Fifty functions that are not linear: where the order is called stable, another seed finds the same in 95 %."""
    again, stopped = [], 0
    for seed in range(50):
        z = np.array(list(product([0, 1], repeat=8)))
        table = dict(zip(map(tuple, z.tolist()), noisy(z, seed), strict=True))
        model = box(lambda words, table=table: table[tuple(int(w in words) for w in WORDS)])
        runs = [
            assay.explain(model, " ".join(WORDS), "lime", stop="stable", top_k=3, samples=4000, seed=s) for s in (0, 1)
        ]
        tops = [np.argsort(-np.abs(run.scores))[:3].tolist() for run in runs]
        stopped += runs[0].facts["stable"]
        if runs[0].facts["stable"]:
            again.append(tops[0] == tops[1])
    assert stopped >= 20
    assert np.mean(again) >= 0.95


@pytest.mark.parametrize(("second", "settled"), [(1.9, 2), (-1.9, 0)])
def test_errors_that_go_together_cancel_only_for_weights_of_one_sign(second: float, settled: int) -> None:
    weights = np.array([2.0, second])
    fit = Surrogate(weights, 0.0, 1.0, weights, np.full((4, 2), 0.05))
    assert fit.settled(2) == settled


def test_an_order_that_is_not_called_stable_is_not() -> None:
    orders = set()
    for seed in range(10):
        e = assay.explain(box(bent), " ".join(WORDS), "lime", samples=60, seed=seed)
        orders.add(tuple(np.argsort(-np.abs(e.scores))[:5]))
        assert not e.facts["stable"]
    assert len(orders) > 3


def test_a_bag_takes_equal_words_together() -> None:
    asked: list[str] = []
    model = box(lambda words: 2.0 * ("good" in words) - ("film" in words), asked)
    e = assay.explain(model, "good film Good good", "lime", features="bag", samples=50)
    assert e.scores[0] == e.scores[2] == e.scores[3]
    assert len(e.facts["intervals"]) == 4
    assert set(asked) == {"good film Good good", "good Good good", "film", ""}


def test_a_bag_keeps_the_fields_of_a_pair_apart() -> None:
    def probabilities(pairs: list[tuple[str, str]]) -> Any:
        return expit([2.0 * one.count("good") - 3.0 * two.count("good") for one, two in pairs])

    model = BlackBox(probabilities, labels=["n", "p"])
    e = assay.explain(model, ("good film", "good plot"), "lime", features="bag", target=1, penalty=0)
    np.testing.assert_allclose(e.scores, [2, 0, -3, 0], atol=1e-8)


def test_words_are_filled_by_a_masked_language_model() -> None:
    """LIME-BERT: no sample is shorter than the text, and no erased word comes back."""
    asked: list[str] = []
    model = box(lambda words: 0.1 * len(words), asked)
    engine = Engine(model, resolve=lambda name: assay.load(tiny.masked_lm()))
    text = "the film was good"
    e = assay.explain(model, text, "lime", eraser="resample", samples=40, engine=engine)
    assert len(asked) > 10
    assert all(len(row.split()) == 4 for row in asked)
    assert np.isfinite(e.scores).all()
    assert e.about.parameters["eraser"] == "resample"


@pytest.mark.parametrize("scalar", ["log_odds", "probability", "logit"])
def test_the_logistic_surrogate_explains_the_probability_on_any_scale(scalar: Any) -> None:
    model, text = box(bent), " ".join(WORDS)
    settings = {"surrogate": "l1_logistic", "penalty": 0.5, "samples": 300, "target": "yes"}
    e = assay.explain(model, text, "lime", scalar=scalar, **settings)
    reference = assay.explain(model, text, "lime", **settings)
    np.testing.assert_allclose(e.scores, reference.scores, atol=1e-9)
    contrast = assay.explain(model, text, "lime", against="no", **settings)
    np.testing.assert_allclose(contrast.scores, reference.scores, atol=1e-6)


def test_the_scale_of_the_ridge_is_the_users() -> None:
    model = box(lambda words: 4.0 * ("alpha" in words) - 1)
    by_odds = assay.explain(model, "alpha beta gamma", "lime", penalty=0, target=1)
    by_chance = assay.explain(model, "alpha beta gamma", "lime", penalty=0, target=1, scalar="probability")
    assert by_odds.scores[0] == pytest.approx(4)
    assert by_chance.scores[0] == pytest.approx(expit(3) - expit(-1))
    assert by_odds.facts["intercept"] == pytest.approx(-1)
    assert logit(by_chance.facts["intercept"]) == pytest.approx(-1)


def test_more_words_than_samples_is_said() -> None:
    e = assay.explain(box(lambda words: len(words) / 50), " ".join(f"w{i}" for i in range(60)), "lime", samples=50)
    assert "too few samples" in e.warnings[0]
    assert np.isfinite(e.facts["intervals"]).all()


@pytest.mark.parametrize("bad", [{"samples": 1}, {"top_k": 0}, {"kernel_width": 0}, {"penalty": -1}])
def test_settings_that_make_no_sense_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="lime needs"):
        Lime(**bad)


@pytest.mark.parametrize("edge", [{"samples": 2}, {"top_k": 1}, {"penalty": 0.0}, {"kernel_width": 0.01}])
def test_the_least_that_settings_may_be(edge: dict[str, Any]) -> None:
    """Two samples, one place, no penalty are few, but not wrong; less is refused."""
    Lime(**edge)
    less = {name: 0 if name == "kernel_width" else value - 1 for name, value in edge.items()}
    with pytest.raises(BadInput, match="lime needs"):
        Lime(**less)
