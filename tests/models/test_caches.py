"""Prompts that are read in several passes: the cheapest split, and the same numbers as after each prompt alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from transformers.cache_utils import DynamicCache, DynamicSlidingWindowLayer

import assay
from assay.engine.engine import Engine
from assay.models.transformers import decoding
from assay.models.transformers.caches import joined, padded_left, passes
from assay.questions.base import Conversation
from assay.questions.generation import Generate, Likelihood, Sampling

PROMPTS = [
    *("Two dogs run through the tall grass, chasing", "Two dogs run through the tall grass, and"),
    *("The plot was dull", "A", "It", "It's not good"),
]


def splits(lengths: list[int]) -> Iterator[list[list[int]]]:
    """Every way to cut the sorted lengths into runs."""
    ordered = sorted(lengths)
    for many in range(len(ordered)):
        for cuts in combinations(range(1, len(ordered)), many):
            bounds = [0, *cuts, len(ordered)]
            yield [ordered[a:b] for a, b in pairwise(bounds)]


@pytest.mark.parametrize("a_pass", [0, 3, 20, 1000])
def test_no_other_split_costs_less(a_pass: int) -> None:
    def cost(split: list[list[int]]) -> int:
        return sum(a_pass + len(part) * max(part) for part in split)

    for seed in range(20):
        lengths = np.random.default_rng(seed).integers(1, 40, size=7).tolist()
        found = passes(lengths, a_pass)
        assert sorted(i for part in found for i in part) == list(range(7))
        assert cost([[lengths[i] for i in part] for part in found]) == min(map(cost, splits(lengths)))


@pytest.mark.parametrize("family", ["gpt2", "llama"])
@pytest.mark.parametrize("sampling", [Sampling(0.9, 0.95), Sampling(), Sampling(beams=2)])
def test_what_is_written_and_read_is_as_alone(family: str, sampling: Sampling, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(question: Any) -> Conversation[Any]:
        return (yield question)

    def seen(caches: Any) -> Any:
        together.append(len(caches))
        return joined(caches)

    questions = [Generate(prompt, max_tokens=9, sampling=sampling) for prompt in PROMPTS]
    questions += [Likelihood(prompt, " it is", " never lets go", ended=True) for prompt in PROMPTS[:2]]
    alone = [one for question in questions for one in Engine(assay.load(tiny.causal_lm(family))).ask(question)]
    together: list[int] = []
    monkeypatch.setattr(decoding, "A_PASS", 1)
    monkeypatch.setattr(decoding, "joined", seen)
    engine = Engine(assay.load(tiny.causal_lm(family)))
    among = [one for outcome in engine.run(map(ask, questions)) for one in outcome.get()]
    assert max(together) > 2
    for mine, one in zip(among, alone, strict=True):
        assert mine.tokens == one.tokens
        assert np.allclose(mine.log_probs, one.log_probs, atol=1e-5)


def test_zeros_stand_before_what_is_shorter() -> None:
    found = padded_left([torch.ones(1, 2, 3, 4), torch.ones(2, 2, 1, 4)], 2)
    assert found.shape == (3, 2, 3, 4)
    assert found[0].sum() == 24
    assert found[1:, :, :2].sum() == 0
    assert found[1:, :, 2].sum() == 16


def test_layers_that_keep_more_than_keys_are_not_put_together() -> None:
    def cache(width: int) -> Any:
        made = DynamicCache()
        made.update(torch.ones(1, 1, width, 2), torch.ones(1, 1, width, 2), 0)
        return made

    assert joined([cache(3), cache(2)]).layers[0].keys.shape == (2, 1, 3, 2)
    other = cache(2)
    other.layers[0] = DynamicSlidingWindowLayer(sliding_window=2)
    with pytest.raises(TypeError, match="DynamicLayer cannot be put together"):
        joined([cache(3), other])
