"""Calibration of what randomization claims: "this map is not about the weights".

Random maps pass it by construction, so the claim to calibrate is the failure. Of methods that do look at the weights it
is made at most one time in twenty: here leave-one-out on a model whose word weights are drawn anew, so that nothing of
the old order is left. Of methods that do not look at them it is made always.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import assay
from assay.engine.engine import Engine
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.models import BlackBox
from assay.questions.base import Conversation, now
from assay.questions.inside import Depth
from assay.questions.predict import Predict
from assay.registry.cards import METHODS
from assay.registry.finding import find_check, find_method
from assay.verdicts import judge as judging

CASES, DRAWS = 1000, 19
VOCABULARY = [f"w{i}" for i in range(400)]


class Lexicon(BlackBox):
    """Log-odds that are a sum of word weights; derived from it, the same with weights of another seed."""

    answers = BlackBox.answers | {Depth: BlackBox.answers[Predict]}  # never asked

    def __init__(self, seed: int = 12) -> None:
        self.weights = dict(zip(VOCABULARY, np.random.default_rng(seed).normal(size=400) * 0.5, strict=True))
        super().__init__(self.chances, labels=["no", "yes"], name=f"lexicon {seed}")

    def chances(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        return np.asarray(1 / (1 + np.exp(-np.array([sum(self.weights[w] for w in t.split()) for t in texts]))))

    def derived(self, spec: str) -> Lexicon:
        return Lexicon(1000 + int(spec.rpartition(":")[2]))


@dataclass(frozen=True, kw_only=True)
class FromTheStart:
    """A map that never looks at the model: the earlier a word stands, the more it counts."""

    def explain(self, case: Case) -> Conversation[TokenScores]:
        return now(TokenScores(case, -np.arange(len(case.text), dtype=float)))


@pytest.fixture
def from_the_start(monkeypatch: pytest.MonkeyPatch) -> str:
    card = replace(find_method("random"), name="from_the_start", make_from=FromTheStart)
    monkeypatch.setitem(METHODS, "from_the_start", card)
    return "from_the_start"


@cache
def verdicts(method: str, count: int, seeds: tuple[int, ...]) -> list[assay.Verdict]:
    """A verdict for each text alone."""
    rng, engine, card = np.random.default_rng(3), Engine(Lexicon()), find_check("randomization")
    texts = [" ".join(rng.choice(VOCABULARY, rng.integers(8, 16), replace=False)) for _ in range(count)]
    maps = assay.explain(engine.model, texts, method, engine=engine, progress=False)
    check = card.make({"part": "head", "seeds": seeds})
    (together,) = judging.judge(engine, maps, [check], draws=DRAWS, progress=False)
    rows = (slice(i, i + 1) for i in range(count))
    return [replace(together, scores=together.scores[r], random_scores=together.random_scores[r]) for r in rows]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [(0,), (0, 1)])
def test_methods_that_look_at_the_weights_seldom_fail(seeds: tuple[int, ...]) -> None:
    told = verdicts("leave_one_out", CASES, seeds)
    assert sum(not v.passed for v in told) <= CASES * 0.05 + 2.6 * np.sqrt(CASES * 0.05 * 0.95)
    assert sum(v.better_than_random for v in told) <= CASES * 0.05 + 2.6 * np.sqrt(CASES * 0.05 * 0.95)


@pytest.mark.parametrize("method", ["random", "from_the_start"])
def test_methods_that_do_not_always_fail(method: str, from_the_start: str) -> None:
    told = verdicts(method, 100, (0, 1, 2))
    assert not any(v.passed for v in told)
    assert {v.sentence for v in told} == {"worse than random"}


@pytest.mark.slow
def test_with_several_texts_the_claim_is_as_careful() -> None:
    """Two texts a verdict, where the bootstrap interval alone is no test."""
    told = verdicts("leave_one_out", CASES, (0,))
    groups = [
        replace(
            told[0],
            scores=np.concatenate([v.scores for v in told[i : i + 2]]),
            random_scores=np.concatenate([v.random_scores for v in told[i : i + 2]]),
        )
        for i in range(0, CASES, 2)
    ]
    assert sum(not v.passed for v in groups) <= 500 * 0.05 + 2.6 * np.sqrt(500 * 0.05 * 0.95)
