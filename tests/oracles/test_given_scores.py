"""What shap, LIME and captum themselves make of a text can be tested as it is, and means the right words and label."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from captum.attr import LayerIntegratedGradients

import assay

shap = pytest.importorskip("shap")
lime_text = pytest.importorskip("lime.lime_text")
logging.getLogger("shap").setLevel(logging.ERROR)

TEXT = "the film was good , really good !"


@pytest.fixture(scope="module")
def bow() -> Any:
    """A model whose log-odds are known word weights, and the same as a function for shap and LIME."""
    weights = {"good": 2.0, "really": 0.5, "film": -1.0, "was": 0.25}

    def chances(texts: Any) -> Any:
        z = np.array([sum(weights.get(word, 0.0) for word in str(text).split()) for text in texts])
        return np.stack([1 / (1 + np.exp(z)), 1 / (1 + np.exp(-z))], axis=1)

    return assay.BlackBox(chances, labels=["negative", "positive"]), chances


@pytest.mark.parametrize("target", ["negative", "positive"])
def test_shap_text_explanations(bow: Any, target: str) -> None:
    model, chances = bow
    masker = shap.maskers.Text(r"\W+")
    explainer = shap.Explainer(lambda texts: np.log(chances(texts)), masker, output_names=["negative", "positive"])
    values = explainer([TEXT], max_evals=200, silent=True)
    e = assay.given(model, TEXT, values[0], target=target)
    column = values[0].values[:, ["negative", "positive"].index(target)]
    assert e.label == target
    assert e.scores.sum() == pytest.approx(column.sum(), rel=1e-6)
    the, film, was, good_comma, really, good = column  # as shap's own splitter cuts the text
    wanted = [the, film, was, good_comma / 2, good_comma / 2, really, good, 0]
    np.testing.assert_allclose(e.scores, wanted)
    np.testing.assert_array_equal(e.scores, assay.given(model, [TEXT], [values], target=target)[0].scores)
    alone = values[0][:, "positive"]  # the scores of one label: taken for the other, every sign would be wrong
    if target == "positive":
        np.testing.assert_array_equal(e.scores, assay.given(model, TEXT, alone, target=target).scores)
    else:
        with pytest.raises(assay.AssayError, match="is of 'positive', not of 'negative'"):
            assay.given(model, TEXT, alone, target=target)


def test_lime_lists_a_word_once_for_all_its_places(bow: Any) -> None:
    model, chances = bow
    explainer = lime_text.LimeTextExplainer(class_names=["negative", "positive"], random_state=0)
    found = explainer.explain_instance(TEXT, chances, labels=(1,), num_samples=200, num_features=4)
    e, listed = assay.given(model, TEXT, found), dict(found.as_list(label=1))
    assert [e.scores[i] for i in (3, 6)] == [listed["good"]] * 2
    assert any("for all places of a word: good" in warning for warning in e.warnings)
    np.testing.assert_array_equal(e.scores, assay.given(model, TEXT, found.as_list(label=1)).scores)
    with pytest.raises(assay.AssayError, match=r"not of 'negative' \(0\)"):
        assay.given(model, TEXT, found, target="negative")


def test_captum_attributions_of_pieces() -> None:
    network, tokenizer = tiny.bert()
    model = assay.load((network, tokenizer))
    ours = assay.explain(model, TEXT, "integrated_gradients", steps=8, baseline="pad", scalar="logit", target=1)
    ids = tokenizer(TEXT, return_tensors="pt")["input_ids"]
    start = torch.where(torch.arange(ids.shape[1]) % (ids.shape[1] - 1) == 0, ids, tokenizer.pad_token_id)
    peer = LayerIntegratedGradients(lambda ids: network(input_ids=ids).logits[:, 1], network.get_input_embeddings())
    theirs = peer.attribute(ids, baselines=start, n_steps=8, method="gausslegendre")
    given = assay.given(model, TEXT, theirs, target=1)
    np.testing.assert_allclose(given.scores, ours.scores, rtol=0.05, atol=0.02 * np.abs(ours.scores).max())
    assert "given as vectors: summed over the embedding" in given.warnings


def test_random_scores_do_not_pass(bow: Any) -> None:
    """Calibration: maps drawn at random, given as scores, are no better than random."""
    model, _ = bow
    texts: list[Any] = [f"{a} film was {b} , really {a} !" for a in ("good", "fine", "bad") for b in ("good", "dull")]
    rng, passed = np.random.default_rng(0), 0
    for _ in range(20):
        scores = {"mine": [rng.standard_normal(len(assay.Text.of(text))) for text in texts]}
        passed += assay.check(model, texts, scores=scores, checks=["deletion"], draws=40)[0].passed
    assert passed <= 3
