"""A linear bag of words: the true attributions are the weights, so methods that add up must give them back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny

import assay

TEXTS = ["the film was good", "good good not good", "a slow and dull plot , really"]


def true_weights(text: str, target: int) -> np.ndarray[Any, Any]:
    """Weights of the words for the label: they count for label 1 and against label 0."""
    bow = tiny.linear_bow()
    weights = [bow.weights.get(word, bow.weights["[UNK]"]) for word in text.split()]
    return np.array(weights) * (1 if target == 1 else -1)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("leave_one_out", {}),
        ("leave_one_out", {"eraser": "pad"}),
        ("input_x_gradient", {}),
        ("integrated_gradients", {"baseline": "zero"}),
        ("integrated_gradients", {"baseline": "pad", "steps": 3}),
    ],
)
def test_additive_methods_return_the_weights(method: str, settings: dict[str, Any], text: str) -> None:
    bow = tiny.linear_bow()
    for target in (0, 1):
        e = assay.explain((bow.model, bow.tokenizer), text, method, target=target, **settings)
        np.testing.assert_allclose(e.scores, true_weights(text, target), atol=1e-6)


def test_a_contrast_of_two_labels_is_the_difference_of_their_logits() -> None:
    bow = tiny.linear_bow()
    e = assay.explain((bow.model, bow.tokenizer), TEXTS[0], "input_x_gradient", target=1, against=0)
    np.testing.assert_allclose(e.scores, true_weights(TEXTS[0], 1), atol=1e-6)


def test_the_gradient_norms_are_those_of_the_direction() -> None:
    bow = tiny.linear_bow()
    direction = bow.model.direction.numpy()
    for norm, expected in (
        ("l1", np.abs(direction).sum()),
        ("l2", np.sqrt((direction**2).sum())),
        ("linf", np.abs(direction).max()),
    ):
        e = assay.explain((bow.model, bow.tokenizer), TEXTS[0], "gradient", target=1, norm=norm)
        np.testing.assert_allclose(e.scores, expected, atol=1e-6)


def test_the_true_scores_pass_every_check_and_reversed_ones_do_not() -> None:
    bow = tiny.linear_bow()
    rng = np.random.default_rng(0)
    known = [word for word, weight in bow.weights.items() if word.isalpha() and weight]
    texts = [" ".join(rng.choice(known, 12)) for _ in range(30)]
    checks = ["deletion", "insertion", "comprehensiveness", "sufficiency", "completeness"]
    verdicts = assay.check((bow.model, bow.tokenizer), texts, ["input_x_gradient"], checks)
    assert {v.check: v.better_than_random for v in verdicts} == dict.fromkeys(checks, True)
