"""Verdicts: calibrated against random explanations, on cases small enough to count by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import tiny

import assay
from assay.models import BlackBox
from assay.statistics.verdict import Verdict


def verdict(scores: list[float] | np.ndarray, random: np.ndarray, better: str = "higher") -> Verdict:
    return Verdict("m", "c", better, np.asarray(scores, dtype=float), np.asarray(random, dtype=float))  # type: ignore[arg-type]


def test_one_text_is_placed_among_its_random_maps() -> None:
    v = verdict([5.0], np.arange(99)[None] / 10)
    assert v.p_value == pytest.approx((1 + 49) / 100)
    assert verdict([50.0], np.arange(99)[None] / 10).p_value == pytest.approx(1 / 100)
    assert verdict([-1.0], np.arange(99)[None] / 10, "lower").p_value == pytest.approx(1 / 100)


def test_two_texts_one_draw_can_be_counted() -> None:
    """Four ways of changing places; only the one seen is as good: p is about a quarter."""
    v = verdict([1.0, 1.0], np.zeros((2, 1)))
    assert v.p_value == pytest.approx(0.25, abs=0.02)


def test_the_interval_is_that_of_the_paired_difference() -> None:
    rng = np.random.default_rng(0)
    ease = rng.normal(size=200) * 10
    v = verdict(ease + 1 + rng.normal(size=200) * 0.1, ease[:, None] + rng.normal(size=(200, 1)) * 0.1)
    low, high = v.interval
    assert 0.95 < low < 1 < high < 1.05
    assert v.difference == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(("texts", "draws"), [(1, 200), (5, 40), (40, 5), (150, 2)])
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_random_explanations_pass_at_most_one_time_in_twenty(texts: int, draws: int, better: str) -> None:
    rng = np.random.default_rng(texts)
    passed = 0
    for _ in range(400):
        spread = rng.gamma(1.0, size=(texts, 1))
        values = rng.exponential(size=(texts, draws + 1)) * spread
        passed += verdict(values[:, 0], values[:, 1:], better).better_than_random
    assert passed / 400 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize("check", ["deletion", "insertion", "comprehensiveness", "sufficiency"])
def test_the_random_method_does_not_pass_a_check_on_a_real_model(check: str) -> None:
    rng = np.random.default_rng(0)
    words = "the a film plot cast good bad dull fine slow funny not very and but script was is".split()
    weights = {"good": 2.0, "fine": 1.0, "funny": 1.5, "bad": -2.0, "dull": -1.5, "slow": -1.0, "not": -0.7}

    def lexicon(texts: list[str]) -> np.ndarray:
        return 1 / (1 + np.exp(-np.array([sum(weights.get(w, 0.0) for w in t.split()) for t in texts])))

    model = BlackBox(lexicon, labels=["n", "p"])
    passed = 0
    for seed in range(100):
        texts = [" ".join(rng.choice(words, rng.integers(6, 20))) for _ in range(8)]
        (v,) = assay.check(model, texts, ["random"], [check], seed=seed, draws=10)
        passed += v.better_than_random
    assert passed <= 12


@pytest.mark.parametrize(("texts", "draws"), [(1, 40), (2, 20), (4, 10), (40, 5)])
def test_random_explanations_are_called_worse_at_most_one_time_in_twenty(texts: int, draws: int) -> None:
    """For two texts the bootstrap interval alone says so three times as often."""
    rng = np.random.default_rng(texts)
    failed = 0
    for _ in range(400):
        values = rng.exponential(size=(texts, draws + 1))
        failed += verdict(values[:, 0], values[:, 1:], "lower").worse_than_random
    assert failed / 400 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_where_random_wins_a_method_passes_unless_it_does_worse(better: str) -> None:
    noise = np.random.default_rng(0).normal(size=(30, 10))
    sign = 1 if better == "higher" else -1
    good, same, bad = (verdict(noise[:, 0] + sign * by, noise[:, 1:], better) for by in (3, 0, -3))
    assert [v.sentence for v in (good, same, bad)] == [
        "better than random", "not distinguishable from random", "worse than random",
    ]  # fmt: skip
    assert [v.passed for v in (good, same, bad)] == [True, False, False]
    reach = [replace(v, chance="reach") for v in (good, same, bad)]
    assert [v.sentence for v in reach] == ["no worse than random", "no worse than random", "worse than random"]
    assert [v.passed for v in reach] == [True, True, False]
    assert bad.p_worse < 0.01 < good.p_worse


def test_methods_and_checks_with_the_same_eraser_say_so() -> None:
    texts = ["the film was good", "a slow and dull plot"]
    (same,) = assay.check(tiny.bert(), texts, ["leave_one_out"], ["deletion"])
    assert "same eraser" in same.warnings[0]
    (other,) = assay.check(tiny.bert(), texts, ["gradient"], ["deletion"])
    assert "same eraser" not in " ".join(other.warnings)


def test_two_texts_are_too_few_for_an_interval_and_five_are_not() -> None:
    texts = ["the film was good", "a slow and dull plot", "the cast was fine", "not a good film", "very funny"]
    said = [assay.check(tiny.bert(), texts[:n], ["gradient"], ["deletion"], draws=4)[0].warnings for n in (1, 2, 4, 5)]
    assert ["too few texts" in " ".join(warnings) for warnings in said] == [False, True, True, False]


def test_no_texts_is_an_error() -> None:
    with pytest.raises(assay.AssayError, match="no text"):
        assay.check(tiny.bert(), [], ["random"], ["deletion"])


def test_a_verdict_is_plain_data() -> None:
    data = verdict([1.0, 2.0, 3.0], np.zeros((3, 4))).to_dict()
    assert data["mean"] == 2.0
    assert data["random"] == 0.0
    assert data["better"] == "higher"
    assert data["interval"][0] <= 2.0 <= data["interval"][1]
    assert set(data) >= {"method", "check", "mean", "interval", "random", "p_value", "better", "warnings"}
