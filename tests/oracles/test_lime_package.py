"""The lime package and captum's LimeBase: the same samples give the same weights, other samples nearly the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from captum._utils.models.linear_model import SkLearnLinearModel
from captum.attr import LimeBase
from lime.lime_text import IndexedString, LimeTextExplainer
from scipy.special import expit

import assay
from assay.methods.input_features.lime import neighbours, proximity
from assay.methods.input_features.surrogates import ridge

TEXTS = [
    "good",
    "a slow but good film",
    "the good the bad and the good again",
    "not good not funny and not a film at all",
]
WEIGHTS = {"good": 1.5, "bad": -2.0, "not": -1.0, "film": 0.3, "slow": -0.7, "the": 0.1}


def chances(texts: list[str]) -> Any:
    """A model with an interaction: what stands after a 'not' counts the other way."""
    values = []
    for text in texts:
        words = text.split()
        signs = [-1 if i and words[i - 1] == "not" else 1 for i in range(len(words))]
        values.append(sum(s * WEIGHTS.get(w, 0) for s, w in zip(signs, words, strict=True)) + 0.1 * len(words))
    positive = expit(np.array(values))
    return np.stack([1 - positive, positive], axis=1)


def sampled(text: str, bow: bool, samples: int = 500) -> tuple[Any, Any, Any, Any]:
    """What lime itself samples: the explainer, its rows of zeros and ones, the model's answers, its distances."""
    peer = LimeTextExplainer(bow=bow, random_state=0)
    draw = peer._LimeTextExplainer__data_labels_distances
    return peer, *draw(IndexedString(text, bow=bow), chances, samples)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("bow", [True, False])
def test_the_same_samples_give_the_same_weights(text: str, bow: bool) -> None:
    peer, rows, labels, distances = sampled(text, bow)
    intercept, weights, r2, _ = peer.base.explain_instance_with_data(
        rows, labels, distances, 1, rows.shape[1], feature_selection="none"
    )
    kept = rows.astype(bool)
    near = proximity(kept, 25.0)
    np.testing.assert_allclose(near, peer.base.kernel_fn(distances), atol=1e-12)
    ours = ridge(kept, labels[:, 1], near)
    theirs = np.array([weight for _, weight in sorted(weights)])
    np.testing.assert_allclose(ours.weights, theirs, atol=1e-6)
    assert (ours.intercept, ours.r2) == pytest.approx((intercept, r2), abs=1e-6)


@pytest.mark.parametrize("text", TEXTS[1:])
@pytest.mark.parametrize(("bow", "settings"), [(True, {"features": "bag"}), (False, {"eraser": "unknown:UNKWORDZ"})])
def test_other_samples_give_nearly_the_same_weights(text: str, bow: bool, settings: dict[str, Any]) -> None:
    model = assay.BlackBox(chances, labels=["n", "p"])
    ours = assay.explain(model, text, "lime", target=1, scalar="probability", samples=5000, **settings)
    peer = LimeTextExplainer(bow=bow, random_state=0, feature_selection="none")
    told = peer.explain_instance(text, chances, num_samples=5000, num_features=50)
    indexed = told.domain_mapper.indexed_string
    theirs = np.zeros(len(ours.words))
    for feature, weight in told.as_map()[1]:
        starts = np.atleast_1d(indexed.string_position(feature))
        theirs[[i for i, (start, _) in enumerate(ours.spans) if start in starts]] = weight
    low, high = np.array(ours.facts["intervals"]).T
    error = np.sqrt(2) * (high - low) / 2 / 1.96
    assert (np.abs(ours.scores - theirs) <= 3.5 * error + 1e-9).all()
    assert ours.facts["r2"] == pytest.approx(told.score, abs=0.05)


def test_captum_agrees_on_the_same_samples() -> None:
    text = "not good not funny and not a film at all"
    words = text.split()
    kept = neighbours(np.random.default_rng(0), len(words), 300)
    rows = iter(torch.tensor(kept, dtype=torch.float64))
    base = LimeBase(
        lambda row: torch.tensor(chances([" ".join(w for w, k in zip(words, row[0], strict=True) if k)])[:, 1]),
        SkLearnLinearModel("linear_model.Ridge"),
        lambda original, perturbed, interpretable, **_: torch.tensor(proximity(interpretable.numpy() > 0, 25.0)),
        lambda original, **_: next(rows)[None],
        perturb_interpretable_space=True,
        from_interp_rep_transform=lambda row, original, **_: row,
        to_interp_rep_transform=None,
    )
    theirs = base.attribute(torch.ones(1, len(words), dtype=torch.float64), n_samples=len(kept))
    values = chances([" ".join(w for w, k in zip(words, row, strict=True) if k) for row in kept])[:, 1]
    ours = ridge(kept, values, proximity(kept, 25.0))
    np.testing.assert_allclose(ours.weights, theirs[0].numpy(), atol=1e-5)
