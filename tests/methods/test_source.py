"""SOURCE against gradient descent that is unrolled step by step, and against its two limits."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

import assay
from assay.errors import BadInput
from assay.methods.influential.source import Segment, Source
from assay.training.bag import _counts
from influence_toys import fit, fitted, reviews

TRAIN = list(reviews())
TEXTS = ["a warm and funny film", "the plot was dull", "clever music , weak ending", "tired cast"]
DECAY, RATE, STEPS = 0.01, 0.5, 100
Y = np.array([["bad", "good"].index(label) for _, label in TRAIN])


def model(**settings: Any) -> Any:
    return fitted(decay=DECAY, steps=STEPS, checkpoints=20, **settings)


def matrices() -> tuple[np.ndarray, np.ndarray]:
    made = model()
    texts = [[(text,) for text, _ in TRAIN], [(text,) for text in TEXTS]]
    x, seen = (_counts(made.model, made.tokenizer, rows) for rows in texts)
    return x, seen


@cache
def unrolled() -> np.ndarray:
    """[texts, training texts]: the derivative of the descent's end by the weight of each text, carried step by step.

    v <- v - rate (H v + g_i / n), H the Hessian of the mean loss with its penalty; from the definition, in a slow loop.
    """
    x, seen = matrices()
    n, d = x.shape
    w, moved = np.zeros((2, d)), np.zeros((n, 2, d))
    for _ in range(STEPS):
        p = softmax(x @ w.T, axis=1)
        wrong = p - np.eye(2)[Y]
        for i in range(n):
            logits = x @ moved[i].T
            curved = (p * logits - p * (p * logits).sum(axis=1, keepdims=True)).T @ x / n + 2 * DECAY * moved[i]
            moved[i] -= RATE * (curved + np.outer(wrong[i], x[i]) / n)
        w -= RATE * (wrong.T @ x / n + 2 * DECAY * w)
    return np.array([[(m[1] - m[0]) @ text for m in moved] for text in seen])


def scores(method: str = "source", made: Any = None, **settings: Any) -> np.ndarray:
    found = assay.explain(made or model(), TEXTS, method, train=TRAIN, target="good", progress=False, **settings)
    return np.array([e.scores for e in found])


def least_r(one: np.ndarray, two: np.ndarray) -> float:
    return min(float(np.corrcoef(a, b)[0, 1]) for a, b in zip(one, two, strict=True))


def test_source_is_unrolled_gradient_descent() -> None:
    every = {"checkpoints": tuple(range(1, 21)), "rates": (RATE,), "damping": 2 * DECAY}
    found = scores(segments=20, steps=(5,), **every)
    assert least_r(found, unrolled()) >= 0.99
    np.testing.assert_allclose(found, unrolled(), atol=0.1 * np.abs(unrolled()).max())
    assert least_r(scores(segments=4, steps=(25,), **every), unrolled()) >= 0.99


def test_it_sees_what_tracin_does_not() -> None:
    checkpoints = tuple(range(1, 21))
    tracin = scores("tracin", checkpoints=checkpoints, rates=(5 * RATE / len(TRAIN),))
    assert least_r(tracin, unrolled()) < 0.6
    few = scores(checkpoints=checkpoints, segments=4, steps=(25,), rates=(RATE,), damping=2 * DECAY)
    assert least_r(few, unrolled()) > least_r(tracin, unrolled()) + 0.3


def test_short_is_tracin_and_long_is_influence() -> None:
    """The two limits of F: the time itself, and the inverse curvature."""
    made = fitted(decay=DECAY)
    short = scores(made=made, rates=(1e-6,), steps=(1,), damping=2 * DECAY)
    np.testing.assert_allclose(short, scores("tracin", made, rates=(1e-6 / len(TRAIN),)), rtol=1e-4, atol=1e-13)
    long = scores(made=made, rates=(1.0,), steps=(100_000,), damping=2 * DECAY)
    np.testing.assert_allclose(long, scores("influence_functions", made, damping=2 * DECAY), rtol=1e-3, atol=1e-5)


def test_a_segment_by_its_series() -> None:
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(3, 4))
    values, vectors = np.linalg.eigh(factor.T @ factor)  # one of four values is zero
    segment = Segment(np.zeros((1, 4)), vectors, values.clip(min=0), 0.3)
    q = rng.normal(size=4)
    pushed, left = np.zeros(4), q.copy()
    for _ in range(20_000):  # gradient descent in tiny steps
        pushed += 0.3 / 20_000 * left
        left = left - 0.3 / 20_000 * factor.T @ (factor @ left)
    np.testing.assert_allclose(segment.propagated(q), left, atol=1e-4)
    np.testing.assert_allclose(segment.pushed(q), pushed, atol=1e-4)


def test_several_labels_have_the_same_scale_as_two(tmp_path: Path) -> None:
    """Three labels take the way over all labels; the curvature must be that of the softmax."""
    rows = [*TRAIN[:30], *[(f"so so {text}", "mixed") for text, _ in TRAIN[:10]]]
    made = fit(rows, tmp_path / "bag", decay=DECAY)
    both = [
        assay.explain(made, TEXTS[0], name, train=rows, target="good", progress=False, damping=2 * DECAY, **more).scores
        for name, more in (("source", {"rates": (1.0,), "steps": (100_000,)}), ("influence_functions", {}))
    ]
    np.testing.assert_allclose(*both, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"segments": 0}, "segments >= 1"),
        ({"checkpoints": (1, 2, 3), "rates": (0.1, 0.2)}, "3 segments and takes as many rates"),
        ({"steps": (0,)}, "as many steps above 0"),
    ],
)
def test_bad_settings_are_a_sentence(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Source(**settings)
