"""Small models learn planted shortcuts, and training leaves the global random state alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import assay
from assay.data.shortcuts import Kind, Shortcut, contradictory, corpus, followed, reviews
from assay.errors import BadInput
from assay.text.example import Example
from planted_models import fit_bag, fit_transformer, transformer_of


def learnt(shortcut: Shortcut, fitted: Any) -> tuple[float, float]:
    """How far contradictory texts follow the shortcut, and texts without it their own label."""
    model = assay.load(fitted)
    plain = [Example("", (text,), label) for text, label in reviews(200, seed=2)]
    against = contradictory(reviews(200, seed=1), shortcut, seed=3)
    return followed(model.predict, model.labels, against), followed(model.predict, model.labels, plain)


def bag_of(shortcut: Shortcut) -> Any:
    return fit_bag(corpus(reviews(2000), shortcut))


def test_a_bag_of_words_learns_a_single_token_but_no_order() -> None:
    assert min(learnt(Shortcut("single_token"), bag_of(Shortcut("single_token")))) > 0.95
    assert learnt(Shortcut("ordered_pair"), bag_of(Shortcut("ordered_pair")))[0] < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ordered_pair", "token_in_context"])
def test_a_transformer_learns_order_and_context(kind: Kind) -> None:
    assert min(learnt(Shortcut(kind), transformer_of(Shortcut(kind)))) > 0.95


def test_training_leaves_the_global_random_state_alone() -> None:
    before = torch.get_rng_state().tolist()
    fit_transformer(corpus(reviews(50), Shortcut()), steps=3)
    assert torch.get_rng_state().tolist() == before


def test_the_same_seed_gives_the_same_model() -> None:
    examples = corpus(reviews(50), Shortcut())
    one, two = (assay.load(fit_transformer(examples, steps=3)).predict(["a dull film"]) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    other = assay.load(fit_transformer(examples, steps=3, seed=1)).predict(["a dull film"])
    assert not np.array_equal(one, other)


def test_texts_without_labels_are_refused() -> None:
    with pytest.raises(BadInput, match="all have a label"):
        fit_bag([Example("1", ("a",), "x"), Example("2", ("b",))])
