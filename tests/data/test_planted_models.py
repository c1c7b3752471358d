"""Small models learn planted shortcuts, and training leaves the global random state alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import assay
from assay.data.shortcuts import Kind, Shortcut, contradictory, corpus, followed, reviews
from assay.errors import BadInput
from assay.text.example import Example
from planted_models import fit_bag, fit_transformer


def learnt(shortcut: Shortcut, fit: object) -> tuple[float, float]:
    """How far contradictory texts follow the shortcut, and texts without it their own label."""
    model = assay.load(fit(corpus(reviews(2000), shortcut)))  # type: ignore[operator]
    plain = [Example("", (text,), label) for text, label in reviews(200, seed=2)]
    against = contradictory(reviews(200, seed=1), shortcut, seed=3)
    return followed(model.predict, model.labels, against), followed(model.predict, model.labels, plain)


def test_a_bag_of_words_learns_a_single_token_but_no_order() -> None:
    assert min(learnt(Shortcut("single_token"), fit_bag)) > 0.95
    assert learnt(Shortcut("ordered_pair"), fit_bag)[0] < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ordered_pair", "token_in_context"])
def test_a_transformer_learns_order_and_context(kind: Kind) -> None:
    before = torch.get_rng_state().tolist()
    assert min(learnt(Shortcut(kind), fit_transformer)) > 0.95
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
