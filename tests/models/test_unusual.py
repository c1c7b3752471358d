"""Architectures that do not do as the others do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
import torch
import transformers as hf

import assay
from assay.engine.engine import Engine
from assay.errors import Unanswerable

TEXTS = ["a film", "a good film , and a dull one", "two dogs run", "it is what it is , and no more than that"]


def made(model: Any) -> Any:
    return assay.load((model.eval(), tiny.word_level()))


def fnet() -> Any:
    """Its Fourier layers take no mask: padding is text to them."""
    torch.manual_seed(0)
    config = hf.FNetConfig(
        vocab_size=len(tiny.word_level()), hidden_size=16, num_hidden_layers=2, intermediate_size=16, num_labels=2
    )
    return made(hf.FNetForSequenceClassification(config))


def test_a_model_without_a_mask_never_sees_padding() -> None:
    model = fnet()
    alone = np.concatenate([model.predict([text]) for text in TEXTS])
    assert model.predict(TEXTS) == pytest.approx(alone, abs=1e-6)
    one = [assay.explain(model, text, "input_x_gradient").scores for text in TEXTS]
    together = assay.explain(model, TEXTS, "input_x_gradient", engine=Engine(model), progress=False)
    for own, e in zip(one, together, strict=True):
        assert e.scores == pytest.approx(own, abs=1e-6)


def test_as_many_positions_as_you_like() -> None:
    config = hf.XLNetConfig(vocab_size=len(tiny.word_level()), d_model=16, n_layer=1, n_head=2, d_inner=16)
    e = assay.explain(made(hf.XLNetForSequenceClassification(config)), "a good film", "leave_one_out")
    assert len(e.scores) == 3
    assert not e.truncated


def test_a_classifier_whose_decoder_reads_the_text_again_says_what_works() -> None:
    config = hf.BartConfig(
        vocab_size=len(tiny.word_level()), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=64, num_labels=2,
        pad_token_id=0, eos_token_id=3,
    )  # fmt: skip
    model = made(hf.BartForSequenceClassification(config))
    with pytest.raises(Unanswerable, match="leave_one_out"):
        assay.explain(model, "a good film", "gradient")
