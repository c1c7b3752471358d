"""Passes of a writer on a CPU: the same numbers in less time, nothing left behind, and batches that are full."""

from __future__ import annotations

from contextlib import nullcontext
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
import torch
import transformers as hf
from torch import nn

import assay
from assay.engine.engine import Engine
from assay.models.transformers import writing_fast
from assay.models.transformers.handlers import generate, likelihood
from assay.models.transformers.network import Network
from assay.models.transformers.writing_fast import GROUPED, by_columns, fast, widening
from assay.questions.base import Conversation
from assay.questions.generation import Generate, Likelihood, Sampling

PROMPTS = ["The plot was dull", "A", "Two dogs run through the tall grass, chasing", "Two dogs run through the sea"]


@cache
def grouped() -> Any:
    """Four heads, and two that have keys and values."""
    tokenizer = tiny.metaspace_with_begin()
    sizes = {"hidden_size": 24, "intermediate_size": 32, "num_hidden_layers": 2, "max_position_embeddings": tiny.WINDOW}
    config = hf.LlamaConfig(
        vocab_size=len(tokenizer), num_attention_heads=4, num_key_value_heads=2, initializer_range=0.3, **sizes
    )
    return tiny.seeded(lambda: hf.LlamaForCausalLM(config)), tokenizer


def network(pair: Any) -> Network:
    model: Any = assay.load(pair)
    found: Network = model.network
    return found


def answers(engine: Engine) -> list[Any]:
    def ask(question: Any) -> Conversation[Any]:
        return (yield question)

    asked = [Generate(p, n=2, max_tokens=9, sampling=Sampling(0.9, 0.95)) for p in PROMPTS]
    given = [Likelihood(p, " is good", " never lets go of it", ended=True) for p in PROMPTS]
    return [one for outcome in engine.run(map(ask, [*asked, *given])) for one in outcome.get()]


@pytest.mark.parametrize("pair", [grouped, lambda: tiny.causal_lm("gpt2"), lambda: tiny.seq2seq("bart")])
def test_the_numbers_are_those_of_the_model_as_it_is(pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = answers(Engine(assay.load(pair())))
    for handler in (generate, likelihood):
        monkeypatch.setattr(handler, "fast", lambda _: nullcontext())
    slow = answers(Engine(assay.load(pair())))
    for mine, theirs in zip(quick, slow, strict=True):
        assert mine.tokens == theirs.tokens
        np.testing.assert_allclose(mine.log_probs, theirs.log_probs, atol=1e-5)


def test_padded_rows_read_keys_where_they_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[int, int]] = []
    attend = nn.functional.scaled_dot_product_attention

    def seen(query: Any, key: Any, *rest: Any, **how: Any) -> Any:
        called.append((query.shape[1], key.shape[1]))
        return attend(query, key, *rest, **how)

    monkeypatch.setattr(nn.functional, "scaled_dot_product_attention", seen)
    model = assay.load(grouped())
    model.answers  # noqa: B018 - tried before, with masks and without
    called.clear()
    answers(Engine(model))
    assert called
    assert set(called) == {(4, 2)}


def test_nothing_is_left_behind() -> None:
    whole = network(grouped())
    before = whole.model.config._attn_implementation
    with whole.turn, torch.no_grad(), fast(whole):
        assert whole.model.config._attn_implementation == GROUPED
        assert any("forward" in module.__dict__ for module in whole.model.modules())
        assert not any("forward" in module.__dict__ for module in whole.own.modules())
    assert whole.model.config._attn_implementation == before == whole.own.config._attn_implementation
    assert not any("forward" in module.__dict__ for module in whole.model.modules())


def test_a_weight_that_is_changed_counts_at_once() -> None:
    whole = network(grouped())
    layer = whole.model.model.layers[0].mlp.gate_proj
    x = torch.randn(3, 24)
    with torch.no_grad(), fast(whole):
        first = layer(x)
        layer.weight.data *= 2
        second = layer(x)
        layer.weight.data /= 2
    torch.testing.assert_close(second, 2 * first)
    torch.testing.assert_close(first.double(), x.double() @ layer.weight.double().T, atol=1e-5, rtol=1e-5)


def test_a_layer_adds_what_it_adds() -> None:
    layer, x = nn.Linear(24, 5).requires_grad_(False), torch.randn(2, 3, 24)
    with torch.no_grad():
        found = writing_fast._product(layer, x)
    torch.testing.assert_close(found, x @ layer.weight.T + layer.bias, atol=1e-5, rtol=1e-5)


def test_gradients_and_smaller_types_go_the_usual_way(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = network(grouped())
    layer = whole.model.model.layers[0].mlp.gate_proj
    x = torch.randn(3, 24, requires_grad=True)
    with fast(whole):
        layer(x).sum().backward()
        with torch.no_grad():
            assert layer(x.double().float()).dtype == torch.float32
            with torch.autocast("cpu", dtype=torch.bfloat16):
                assert layer(x).dtype == torch.bfloat16
    assert x.grad is not None
    torch.testing.assert_close(x.grad[0], layer.weight.sum(0))


def test_a_model_without_a_twin_is_run_as_it_is() -> None:
    model, tokenizer = grouped()
    model.lm_head.forward = model.lm_head.forward  # put there by somebody: no twin
    try:
        whole = network((model, tokenizer))
        with fast(whole):
            assert [module for module in model.modules() if "forward" in module.__dict__] == [model.lm_head]
    finally:
        del model.lm_head.forward


def test_batches_are_wide_as_long_as_their_keys_are_small() -> None:
    whole = network(grouped())
    assert widening(whole, 768) == 16
    config = whole.model.config
    sizes = {"num_hidden_layers": 32, "num_key_value_heads": 32, "head_dim": 128}
    before = {name: getattr(config, name) for name in sizes}
    try:
        vars(config).update(sizes)  # 1 MiB a token
        assert widening(whole, 768) == 1
        vars(config).update(num_hidden_layers=30, num_key_value_heads=3, head_dim=64)  # SmolLM2
        assert widening(whole, 768) == 15
    finally:
        vars(config).update(before)


def test_equally_long_rows_do_not_send_the_others_away() -> None:
    """Every batch takes as many steps as its longest text, so that small ones cost more than padding."""
    model = assay.load(grouped())
    asked = [Generate("Two dogs run", n=10, max_tokens=40, sampling=Sampling(1.0)), Generate("A", max_tokens=20)]
    engine = Engine(model)

    def ask(question: Any) -> Conversation[Any]:
        return (yield question)

    assert all(outcome.get() for outcome in engine.run(map(ask, asked)))
    assert engine.batcher.batches == 1


def test_without_onednn_it_is_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing_fast, "_has_onednn", lambda: False)
    whole = network(grouped())
    with fast(whole):
        assert not any("forward" in module.__dict__ for module in whole.model.modules())


def test_weights_by_columns_are_the_same_weights(tmp_path: Path) -> None:
    model, tokenizer = grouped()
    turned = by_columns(deepcopy(model))
    down = turned.model.layers[0].mlp.down_proj.weight
    assert down.stride() == (1, down.shape[0])
    assert turned.model.embed_tokens.weight.is_contiguous()
    for name, tensor in model.state_dict().items():
        assert torch.equal(turned.state_dict()[name], tensor)
    for mine, theirs in zip(
        answers(Engine(assay.load((turned, tokenizer)))), answers(Engine(assay.load((model, tokenizer)))), strict=True
    ):
        assert mine.tokens == theirs.tokens
        np.testing.assert_allclose(mine.log_probs, theirs.log_probs, atol=1e-5)
    turned.save_pretrained(tmp_path)
    again = hf.LlamaForCausalLM.from_pretrained(tmp_path).state_dict()
    assert all(torch.equal(again[name], tensor) for name, tensor in model.state_dict().items())


def test_a_head_that_is_the_embeddings_stays_as_it_is() -> None:
    sizes = {"vocab_size": 9, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1}
    config = hf.LlamaConfig(num_attention_heads=2, tie_word_embeddings=True, **sizes)
    model = by_columns(hf.LlamaForCausalLM(config))
    assert model.lm_head.weight is model.model.embed_tokens.weight
    assert model.lm_head.weight.is_contiguous()
    assert not model.model.layers[0].mlp.up_proj.weight.is_contiguous()
