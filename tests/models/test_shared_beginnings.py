"""Prompts that begin alike: their beginning is read once, and what is written is the same as after each alone."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.models import TextModel
from assay.models.transformers import decoding
from assay.models.transformers.caches import A_PASS
from assay.models.transformers.decoding import LeftToRight, beginnings
from assay.questions.base import Conversation
from assay.questions.generation import Generate, Likelihood, Sampling

STEM = "Two dogs run in the grass. The answer is"
PROMPTS = [*(f"{STEM} {rest}" for rest in ("no because", "maybe because", "yes because")), "It rains in a"]


@pytest.mark.parametrize("family", ["gpt2", "llama"])
@pytest.mark.parametrize("sampling", [Sampling(0.9, 0.95), Sampling(), Sampling(beams=2)])
def test_what_is_written_is_the_same_as_alone(family: str, sampling: Sampling, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(question: Generate) -> Conversation[Any]:
        return (yield question)

    def noted(heads: Any) -> Any:
        found.append(beginnings(heads))
        return found[-1]

    model: TextModel = assay.load(tiny.causal_lm(family))
    found: list[Any] = []
    questions = [Generate(prompt, max_tokens=9, sampling=sampling) for prompt in PROMPTS]
    alone = [Engine(model).ask(question)[0] for question in questions]
    monkeypatch.setattr(decoding, "beginnings", noted)
    among = [outcome.get()[0] for outcome in Engine(model).run(map(ask, questions[::-1]))][::-1]
    assert found[-1] is not None
    assert len(set(found[-1])) == 2
    for mine, one in zip(among, alone, strict=True):
        assert mine.text == one.text
        assert np.allclose(mine.log_probs, one.log_probs, atol=1e-5)


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_what_is_read_is_as_likely_as_alone(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(question: Likelihood) -> Conversation[Any]:
        return (yield question)

    def noted(*given: Any) -> LeftToRight:
        read.append(given)
        return behind(*given)

    model, read, behind = assay.load(tiny.causal_lm(family)), list[Any](), LeftToRight.behind
    rest = (" it is", " no", "", " it is so")
    questions = [Likelihood(prompt, *rest, ended=True) for prompt in PROMPTS]
    alone = [[Engine(model).ask(Likelihood(prompt, one, ended=True))[0] for one in rest] for prompt in PROMPTS]
    assert not read
    monkeypatch.setattr(LeftToRight, "behind", noted)
    among = [outcome.get() for outcome in Engine(model).run(map(ask, questions))]
    assert read
    for mine, ones in zip(among, alone, strict=True):
        assert [one.tokens for one in mine] == [one.tokens for one in ones]
        assert all(np.allclose(a.log_probs, b.log_probs, atol=1e-5) for a, b in zip(mine, ones, strict=True))


def test_it_is_a_proper_beginning_and_worth_it() -> None:
    a, b, c = (1, 2, 3, 4, 5), (1, 2, 3, 4, 6, 7), (8, 9, 10)
    assert beginnings([b, c, a]) == [(1, 2, 3, 4), (8, 9), (1, 2, 3, 4)]
    assert beginnings([(1, 2, 3, 4), (1, 2, 3, 4, 5), (1, 2, 3, 4, 6)]) == [(1, 2, 3)] * 3
    assert beginnings([a, c]) is None  # nothing is shared
    assert beginnings([a, b, (1,)]) is None  # a prompt of one token has no beginning
    assert beginnings([a, (1, 2, 9, 9, 9), c]) is None  # less than half


def test_a_model_that_counts_the_padding_between_shares_nothing() -> None:
    """Rotary positions are relative: padding on the left moves none of them, padding in the middle does."""
    network, tokenizer = deepcopy(tiny.causal_lm("llama"))
    with torch.no_grad():
        for layer in network.model.layers:
            layer.self_attn.q_proj.weight *= 50  # so that a place more or less can be seen
    model: Any = assay.load((network, tokenizer))
    assert decoding.tried(model.task) == decoding.Ways(padded=True, cached=True, shared=True, a_pass=A_PASS)
    model.network.takes = model.network.takes - {"position_ids"}
    assert decoding.tried(model.task) == decoding.Ways(padded=True, cached=True, shared=False)


@pytest.mark.parametrize("family", ["gpt2", "llama"])
@pytest.mark.parametrize("sampling", [Sampling(0.9, 0.95), Sampling()])
def test_that_the_longest_prompt_ends_first_changes_no_other(family: str, sampling: Sampling) -> None:
    """The padding beside it stays where it is in the cache when the row that it was made for is gone."""

    def ask(question: Generate) -> Conversation[Any]:
        return (yield question)

    model: TextModel = assay.load(tiny.causal_lm(family))
    asked = [(PROMPTS[0], 2), ("A", 12), ("It rains", 12)]
    questions = [Generate(prompt, max_tokens=most, sampling=sampling) for prompt, most in asked]
    alone = [Engine(model).ask(question)[0] for question in questions]
    among = [outcome.get()[0] for outcome in Engine(model).run(map(ask, questions))]
    for mine, one in zip(among, alone, strict=True):
        assert mine.text == one.text
        assert np.allclose(mine.log_probs, one.log_probs, atol=1e-5)
