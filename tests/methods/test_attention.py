"""Attention and its rollout, against the bare model run once with eager attention and a plain loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.questions.inside import Hidden
from assay.text.text import Text

TEXT = "the unforgettable film was good"
FAMILIES = ["bert", "roberta", "distilbert", "gpt2"]


def bare(family: str) -> tuple[Any, Any, Any]:
    """Weights [layers, heads, n, n] of the bare model, its hidden states, and the offsets of the pieces."""
    model, tokenizer = getattr(tiny, family)()
    encoding = tokenizer(TEXT, return_tensors="pt", return_offsets_mapping=True)
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        output = model(input_ids=encoding["input_ids"], output_attentions=True, output_hidden_states=True)
    model.set_attn_implementation(before)
    return (
        np.stack([layer[0].numpy() for layer in output.attentions]),
        np.stack([layer[0].numpy() for layer in output.hidden_states]),
        encoding["offset_mapping"][0].tolist(),
    )


def per_word(numbers: Any, offsets: Any) -> Any:
    spans = Text.of(TEXT).spans
    return [sum(x for x, (s, e) in zip(numbers, offsets, strict=True) if s < b and a < e and s < e) for a, b in spans]


@pytest.mark.parametrize("family", FAMILIES)
def test_attention_is_the_last_layer_seen_from_the_answer(family: str) -> None:
    weights, _, offsets = bare(family)
    reader = -1 if family == "gpt2" else 0
    e = assay.explain(getattr(tiny, family)(), TEXT, "attention")
    np.testing.assert_allclose(e.scores, per_word(weights[-1].mean(0)[reader], offsets), atol=1e-5)
    one = assay.explain(getattr(tiny, family)(), TEXT, "attention", layer=0, head=1, reader="all")
    np.testing.assert_allclose(one.scores, per_word(weights[0, 1].mean(0), offsets), atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_rollout_by_a_plain_loop(family: str) -> None:
    weights, _, offsets = bare(family)
    rolled = np.eye(weights.shape[-1])
    for layer in weights:
        rolled = (0.5 * layer.mean(0) + 0.5 * np.eye(len(rolled))) @ rolled
    e = assay.explain(getattr(tiny, family)(), TEXT, "attention_rollout")
    np.testing.assert_allclose(e.scores, per_word(rolled[-1 if family == "gpt2" else 0], offsets), atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_hidden_states_are_those_of_the_model(family: str) -> None:
    _, states, _ = bare(family)
    model = assay.load(getattr(tiny, family)())
    answer = Engine(model).ask(Hidden(Text.of(TEXT)))
    np.testing.assert_allclose(answer.states, states, atol=1e-5)


def test_the_users_way_of_attention_comes_back() -> None:
    model, tokenizer = tiny.bert()
    assert model.config._attn_implementation == "sdpa"
    assay.explain((model, tokenizer), TEXT, "attention")
    assert model.config._attn_implementation == "sdpa"


def test_attention_does_not_depend_on_the_company() -> None:
    texts = [TEXT, "good", "a slow and dull plot , really dull and slow and long", "not bad"]
    together = assay.explain(tiny.bert(), texts, "attention")
    for text, e in zip(texts, together, strict=True):
        np.testing.assert_allclose(assay.explain(tiny.bert(), text, "attention").scores, e.scores, atol=1e-5)


@pytest.mark.parametrize("settings", [{"layer": 7}, {"head": 9}, {"layer": -3}])
def test_a_layer_or_head_that_does_not_exist(settings: dict[str, int]) -> None:
    with pytest.raises(assay.AssayError, match="there is no"):
        assay.explain(tiny.bert(), TEXT, "attention", **settings)


def test_a_black_box_has_no_attention() -> None:
    with pytest.raises(assay.AssayError, match="leave_one_out"):
        assay.explain(lambda texts: np.full(len(texts), 0.5), TEXT, "attention")
