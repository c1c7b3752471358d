"""Captum on the same model: integrated gradients, input x gradient and feature ablation agree to 1e-4."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
import torch
from captum.attr import FeatureAblation, LayerGradientXActivation, LayerIntegratedGradients

import assay

TEXTS = ["the film was good , really good", "a slow and dull plot", "not bad", "Don't miss this unforgettable cast !"]
MODELS = ["bert", "roberta", "distilbert"]


class Peer:
    """What captum needs of a model: logits of one label from ids, and which ids belong to words."""

    def __init__(self, family: str, text: str) -> None:
        self.pair = getattr(tiny, family)()
        self.model, self.tokenizer = self.pair
        self.encoding = self.tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
        self.ids = self.encoding["input_ids"]
        self.text = assay.Text.of(text)

    def logit(self, ids: torch.Tensor, target: int) -> torch.Tensor:
        return self.model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[:, target]

    def owner(self) -> list[int | None]:
        """The word of each piece, by a plain double loop over characters."""
        spans = self.text.spans
        return [
            next((w for w, (a, b) in enumerate(spans) if start < b and a < end and end > start), None)
            for start, end in self.encoding["offset_mapping"][0].tolist()
        ]

    def baseline(self) -> torch.Tensor:
        ids = self.ids.clone()
        for piece, word in enumerate(self.owner()):
            if word is not None:
                ids[0, piece] = self.tokenizer.pad_token_id
        return ids

    def per_word(self, per_piece: torch.Tensor) -> np.ndarray[Any, Any]:
        scores = np.zeros(len(self.text))
        for word, score in zip(self.owner(), per_piece.detach().numpy(), strict=True):
            if word is not None:
                scores[word] += score
        return scores


@pytest.mark.parametrize("family", MODELS)
@pytest.mark.parametrize("text", TEXTS)
def test_integrated_gradients_with_the_same_rule(family: str, text: str) -> None:
    peer = Peer(family, text)
    ours = assay.explain(peer.pair, text, "integrated_gradients", scalar="logit", steps=32)
    captum = LayerIntegratedGradients(peer.logit, peer.model.get_input_embeddings())
    theirs = captum.attribute(peer.ids, peer.baseline(), n_steps=32, additional_forward_args=(ours.target,))
    np.testing.assert_allclose(ours.scores, peer.per_word(theirs.sum(-1)[0]), atol=1e-4)


@pytest.mark.parametrize("text", TEXTS)
def test_integrated_gradients_by_panels_meet_a_fine_rule(text: str) -> None:
    peer = Peer("bert", text)
    ours = assay.explain(peer.pair, text, "integrated_gradients", scalar="logit", tolerance=1e-4, limit=5000)
    captum = LayerIntegratedGradients(peer.logit, peer.model.get_input_embeddings())
    theirs = captum.attribute(peer.ids, peer.baseline(), n_steps=500, additional_forward_args=(ours.target,))
    np.testing.assert_allclose(ours.scores, peer.per_word(theirs.sum(-1)[0]), atol=2e-3)


@pytest.mark.parametrize("family", MODELS)
@pytest.mark.parametrize("text", TEXTS)
def test_input_x_gradient(family: str, text: str) -> None:
    peer = Peer(family, text)
    ours = assay.explain(peer.pair, text, "input_x_gradient", scalar="logit")
    captum = LayerGradientXActivation(peer.logit, peer.model.get_input_embeddings())
    theirs = captum.attribute(peer.ids, additional_forward_args=(ours.target,))
    np.testing.assert_allclose(ours.scores, peer.per_word(theirs.sum(-1)[0]), atol=1e-4)


@pytest.mark.parametrize("eraser", ["pad", "mask", "unknown"])
def test_leave_one_out_is_feature_ablation(eraser: str) -> None:
    text = "the film was good and the plot was slow"
    peer = Peer("words", text)
    assert len([word for word in peer.owner() if word is not None]) == len(peer.text), "one piece a word"
    ours = assay.explain(peer.pair, text, "leave_one_out", eraser=eraser, scalar="logit")
    token = {"pad": "[PAD]", "mask": "[MASK]", "unknown": "[UNK]"}[eraser]
    base = torch.full_like(peer.ids, peer.tokenizer.convert_tokens_to_ids(token))
    theirs = FeatureAblation(lambda ids: peer.logit(ids, ours.target)).attribute(peer.ids, base)
    np.testing.assert_allclose(ours.scores, theirs[0, 1:-1].detach().numpy(), atol=1e-4)
