"""Promise 1 on the bundled models: a text alone and the same text in company, to 1e-5 of the largest number."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import assay
from assay.models.batching import Batcher
from assay.questions.base import Aim
from assay.questions.gradients import InputGradient
from assay.text.text import Text

TEXTS = (
    "fine",
    "not very good",
    "the plot is dull and slow",
    "a magnificent cast with a hollow script but funny",
    "the plot was bad the film is fine and the cast is not very funny but the script is unwatchable",
    "slow and dull",
)


@cache
def model(name: str) -> Any:
    pytest.importorskip("assay_zoo")
    return assay.load(name)


def texts(name: str) -> list[Any]:
    return list(zip(TEXTS, TEXTS[::-1], strict=True)) if name == "snli" else list(TEXTS)


def apart(name: str, method: str, **settings: Any) -> list[tuple[float, float]]:
    """For every text how far its scores are apart, alone and in company, and the largest of them."""
    found = []
    together = assay.explain(model(name), texts(name), method, progress=False, **settings)
    for text, e in zip(texts(name), together, strict=True):
        alone = assay.explain(model(name), text, method, progress=False, **settings)
        found.append((float(np.abs(alone.scores - e.scores).max()), float(np.abs(e.scores).max())))
    return found


@pytest.mark.parametrize("name", ["sst2", "snli", "ag_news"])
@pytest.mark.parametrize("method", ["input_x_gradient", "attn_lrp"])
def test_gradients_differ_by_less_than_a_hundred_thousandth_of_the_largest_score(name: str, method: str) -> None:
    for difference, largest in apart(name, method):
        assert difference < 1e-5 * largest


@pytest.mark.parametrize("name", ["sst2", "snli", "ag_news"])
def test_differences_of_answers_are_as_near_as_the_answers_are(name: str) -> None:
    """A score that is a small difference of large log-odds cannot be known better than these are in float32."""
    for (difference, largest), text in zip(apart(name, "leave_one_out"), texts(name), strict=True):
        chances = model(name).predict([text])[0].clip(1e-7, 1 - 1e-7)
        assert difference < 1e-5 * max(largest, float(np.abs(np.log(chances) - np.log1p(-chances)).max()))


def test_gradients_are_taken_in_batches_of_one_length_and_of_four_sequences_at_least(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shapes: list[tuple[int, int]] = []
    inputs = model("sst2").network.inputs

    def seen(ids: Any, types: Any) -> Any:
        shapes.append((len(ids), len({len(row) for row in ids})))
        return inputs(ids, types)

    monkeypatch.setattr(model("sst2").network, "inputs", seen)
    question = InputGradient(*(Text.of(text) for text in TEXTS), aim=Aim(0))
    answers, tokens = Batcher(10_000).answers(model("sst2"), InputGradient, question.rows(model("sst2")))
    assert len(answers) == len(tokens) == len(TEXTS)
    assert {lengths for _, lengths in shapes} == {1}
    assert min(rows for rows, _ in shapes) == 4
