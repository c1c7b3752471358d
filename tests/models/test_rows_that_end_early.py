"""A row that ends leaves the others as they are: the longest prompt, whose padding they have, and a short one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.questions.base import Conversation
from assay.questions.generation import Generate, Generated, Sampling

SHORT, LONG = ["The plot was dull", "A", "It's not good"], "Two dogs run through the tall grass, chasing a ball"
PAIRS = {"gpt2": lambda: tiny.causal_lm("gpt2"), "llama": lambda: tiny.causal_lm("llama"), "t5": tiny.seq2seq}


def written(model: Any, *questions: Generate) -> list[Generated]:
    def ask(question: Generate) -> Conversation[Generated]:
        return (yield question)[0]

    return [outcome.get() for outcome in Engine(model).run(map(ask, questions))]


@pytest.mark.parametrize("beams", [1, 2])
@pytest.mark.parametrize("family", PAIRS)
@pytest.mark.parametrize("ends", [LONG, SHORT[1]])
def test_the_others_go_on_as_alone(family: str, ends: str, beams: int) -> None:
    model, how = assay.load(PAIRS[family]()), Sampling(beams=beams)
    others = [Generate(prompt, max_tokens=6, sampling=how) for prompt in [*SHORT, LONG] if prompt != ends]
    early = Generate(ends, max_tokens=1, sampling=how)
    together = written(model, early, *others)
    for question, found in zip([early, *others], together, strict=True):
        (alone,) = written(model, question)
        assert found.text == alone.text
        np.testing.assert_allclose(found.log_probs, alone.log_probs, atol=1e-5)
