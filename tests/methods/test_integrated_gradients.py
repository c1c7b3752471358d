"""Integrated gradients, driven by hand along paths whose integrals are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiny
from scipy.special import expit

import assay
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.methods.input_features.integrated_gradients import IntegratedGradients
from assay.questions.answers import Gradients
from assay.text.text import Text

CASE = Case(Text.of("one two"), 0)
Function = Callable[[Any], Any]


def answered(method: IntegratedGradients, value: Function, slopes: Function) -> tuple[TokenScores, int]:
    """The explanation when f on the way is `value` and its slopes per word are `slopes`, and the points asked."""
    talk, asked = method.explain(CASE), 0
    question = next(talk)
    while True:
        at = np.array(question.at)  # type: ignore[attr-defined]
        asked += len(at)
        try:
            question = talk.send([Gradients(value(at), slopes(at))])
        except StopIteration as stop:
            return stop.value, asked


def test_a_smooth_path_needs_few_points() -> None:
    e, asked = answered(IntegratedGradients(), lambda t: t**3 + t, lambda t: np.stack([3 * t**2, 1 + 0 * t], axis=1))
    np.testing.assert_allclose(e.scores, [1, 1], atol=1e-12)
    assert asked == e.facts["steps"] == 9


def test_a_sharp_step_is_refined_where_it_stands() -> None:
    sharp = 200.0

    def value(t: Any) -> Any:
        return np.tanh(sharp * (t - 0.3))

    def slopes(t: Any) -> Any:
        return np.stack([sharp / np.cosh(sharp * (t - 0.3)) ** 2, 0 * t], axis=1)

    e, asked = answered(IntegratedGradients(), value, slopes)
    assert e.facts["gap"] < 0.01
    assert not e.warnings
    assert asked < 80


def test_misses_that_cancel_are_not_taken_for_convergence() -> None:
    """One panel too high, another as much too low: the sum is right by accident, the scores are not."""
    sharp = 120.0

    def bump(t: Any, at: float) -> Any:
        return sharp / np.cosh(sharp * (t - at)) ** 2

    def value(t: Any) -> Any:
        return np.tanh(sharp * (t - 0.11)) - np.tanh(sharp * (t - 0.86)) + t

    def slopes(t: Any) -> Any:
        return np.stack([bump(t, 0.11) - bump(t, 0.86), 1 + 0 * t], axis=1)

    e, asked = answered(IntegratedGradients(), value, slopes)
    assert asked > 20
    np.testing.assert_allclose(e.scores, [0, 1], atol=0.05)


def opposed(steep: float, at: float) -> tuple[Function, Function]:
    """The sigmoid of one word less that of another: f is 0 all the way, and tells nothing of either."""

    def slopes(t: Any) -> Any:
        own = steep * expit(steep * (t - at)) * expit(steep * (at - t))
        return np.stack([own, -own], axis=1)

    return lambda t: 0 * t, slopes


def test_misses_of_two_words_that_cancel_are_not_taken_for_convergence() -> None:
    """At the first nine points the scores are 0.42 and -0.42, and their sum is right."""
    e, asked = answered(IntegratedGradients(), *opposed(60, 0.57))
    np.testing.assert_allclose(e.scores, [1, -1], atol=1e-2)
    assert not e.warnings
    assert asked < 60


def far_off(e: TokenScores, truth: Any) -> bool:
    return bool(np.abs(e.scores - truth).max() > 0.01 * np.abs(truth).max())


@pytest.mark.parametrize("settings", [{}, {"steps": 8}, {"steps": 20}])
def test_each_word_is_as_good_as_the_tolerance_says_or_flagged(settings: dict[str, int]) -> None:
    """Nearly always: what no point has seen is not known."""
    rng, silent = np.random.default_rng(0), 0
    for steep, at in zip(rng.uniform(1, 80, 300), rng.uniform(0.15, 0.85, 300), strict=True):
        e, _ = answered(IntegratedGradients(**settings), *opposed(steep, at))  # type: ignore[arg-type]
        whole = expit(steep * (1 - at)) - expit(-steep * at)
        silent += far_off(e, np.array([whole, -whole])) and not e.warnings
    assert silent <= 1


@pytest.mark.parametrize(("steep", "at"), [(54.9, 0.451), (19.9, 0.498)])
def test_rules_that_agree_by_chance_are_not_taken_for_convergence(steep: float, at: float) -> None:
    """Here the rule on two panels agrees with that on both as one, and all are off, by two thirds of a score."""
    e, _ = answered(IntegratedGradients(), *opposed(steep, at))
    whole = expit(steep * (1 - at)) - expit(-steep * at)
    np.testing.assert_allclose(e.scores, [whole, -whole], rtol=0.01)


def risen(*words: tuple[float, float]) -> tuple[Function, Function]:
    """The sum of the sigmoids of words."""
    own = [opposed(*word)[1] for word in words]
    return (
        lambda t: sum(expit(steep * (t - at)) for steep, at in words),
        lambda t: np.stack([slopes(t)[:, 0] for slopes in own], axis=1),
    )


def test_what_is_missed_of_f_is_counted_against_the_words() -> None:
    """Two words that both rise: f is met within 1 % of its own rise, which is more than that of a word's."""
    rng, silent = np.random.default_rng(3), 0
    for one, other, at, there in rng.uniform([1, 1, 0.15, 0.15], [80, 80, 0.85, 0.85], (200, 4)):
        e, _ = answered(IntegratedGradients(), *risen((one, at), (other, there)))
        truth = [expit(s * (1 - c)) - expit(-s * c) for s, c in ((one, at), (other, there))]
        silent += far_off(e, np.array(truth)) and not e.warnings
    assert silent == 0


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_few_steps_are_enough_for_straight_slopes(steps: int) -> None:
    e, _ = answered(IntegratedGradients(steps=steps), lambda t: t, lambda t: np.stack([1 + 0 * t, 0 * t], axis=1))
    np.testing.assert_allclose(e.scores, [1, 0], atol=1e-12)
    assert not e.warnings


def test_words_that_stay_unsure_at_the_limit_are_flagged() -> None:
    e, asked = answered(IntegratedGradients(limit=11), *opposed(60, 0.57))
    assert asked <= 11
    assert e.warnings == ("unconverged: the score of some word may be off by more than 1% of the largest",)


@pytest.mark.parametrize("settings", [{"steps": 3}, {"limit": 9}])
def test_a_gap_above_the_tolerance_that_was_asked_for_is_flagged(settings: dict[str, int]) -> None:
    """A miss of one in a thousand is within the usual tolerance, and not within one of a thousandth."""

    def value(t: Any) -> Any:
        return t + 0.1 * t**8

    def slopes(t: Any) -> Any:
        return np.stack([1 + 0.8 * t**7, 0 * t], axis=1)

    usual, _ = answered(IntegratedGradients(**settings), value, slopes)  # type: ignore[arg-type]
    assert 5e-5 < usual.facts["gap"] < 1e-2
    assert not usual.warnings
    strict, _ = answered(IntegratedGradients(tolerance=5e-5, **settings), value, slopes)  # type: ignore[arg-type]
    assert "miss what they should sum to by more than 0.005%" in strict.warnings[0]


def test_what_does_not_converge_is_flagged() -> None:
    rng = np.random.default_rng(0)
    e, asked = answered(
        IntegratedGradients(limit=33), lambda t: t, lambda t: np.stack([rng.normal(size=len(t)) * 9, 0 * t], axis=1)
    )
    assert asked <= 33
    assert "unconverged" in e.warnings[0]


def test_a_fixed_number_of_steps_is_gauss_legendre() -> None:
    e, asked = answered(IntegratedGradients(steps=4), lambda t: t**8, lambda t: np.stack([8 * t**7, 0 * t], axis=1))
    np.testing.assert_allclose(e.scores, [1, 0], atol=1e-12)
    assert asked == 6


@pytest.mark.parametrize("baseline", ["pad", "mask", "zero"])
def test_the_scores_of_a_real_model_add_up(baseline: str) -> None:
    e = assay.explain(tiny.bert(), "the film was good , but slow", "integrated_gradients", baseline=baseline)
    assert e.scores.sum() == pytest.approx(e.facts["value"] - e.facts["baseline"], rel=0.01)
    assert e.facts["gap"] <= 0.01


def test_words_out_of_focus_stay_as_they_are() -> None:
    pair = ("the film was good", "a good film")
    e = assay.explain(tiny.bert(), pair, "integrated_gradients", focus=["hypothesis"], tolerance=0.001)
    assert e.words == ("a", "good", "film")
    assert e.scores.sum() == pytest.approx(e.facts["value"] - e.facts["baseline"], rel=0.01)
