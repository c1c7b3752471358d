"""Threads that write with one model, or derive models from it, get what one thread gets; torch's generator stays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.questions.generation import Generate, Likelihood, Sampling
from assay.questions.predict import Predict
from assay.text.text import Text

PROMPTS = ["The plot was dull", "A", "Two dogs run through the tall grass, chasing", "It's not good"]
WARM = Sampling(temperature=1.0)


def test_threads_that_write_with_one_model_write_what_each_writes_alone() -> None:
    model = assay.load(tiny.causal_lm("gpt2"))

    def written(k: int) -> tuple[str, str, float]:
        engine = Engine(model)
        (free,) = engine.ask(Generate(PROMPTS[k], max_tokens=6, sampling=WARM, seed=k))
        (best,) = engine.ask(Generate(PROMPTS[k], max_tokens=3, sampling=Sampling(beams=2)))
        return free.text, best.text, engine.ask(Likelihood(PROMPTS[k], " and not good"))[0].total

    alone = [written(k) for k in range(len(PROMPTS))]
    state = torch.get_rng_state()
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(written, range(len(PROMPTS)))) == alone
    assert torch.equal(torch.get_rng_state(), state)


def test_threads_that_derive_models_get_the_weights_of_their_seeds() -> None:
    model = assay.load(tiny.bert())
    text = Text.of("a funny film")

    def answered(seed: int) -> Any:
        question = Predict(text).sent_to(f"@randomized:all:{seed}")
        return Engine(model).ask(question).probabilities[0].tolist()

    alone = [answered(seed) for seed in range(8)]
    state = torch.get_rng_state()
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(answered, range(8))) == alone
    assert torch.equal(torch.get_rng_state(), state)
    assert np.std(alone, axis=0).max() > 1e-3
