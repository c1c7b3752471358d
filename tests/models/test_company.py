"""Promise 1 on the bundled models: a text alone and the same text in company, to 1e-5 of the largest number."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

import assay
from assay.models.batching import Batcher
from assay.models.transformers.few_rows import sums_as_in_company
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


@pytest.mark.parametrize("name", ["sst2", "snli", "ag_news"])
def test_on_a_processor_gradients_have_the_same_bits_alone_and_in_company(name: str) -> None:
    assert {difference for difference, _ in apart(name, "input_x_gradient")} == {0.0}


def test_gradients_are_taken_in_batches_of_one_width_and_no_row_is_run_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows are padded to a multiple of eight whatever the others are, so texts of nearly one length go together."""
    shapes: list[tuple[int, ...]] = []
    inputs = model("sst2").network.inputs

    def seen(ids: Any, types: Any) -> Any:
        made = inputs(ids, types)
        lengths = {-(-len(row) // 8) * 8 for row in ids}
        shapes.append((len(ids), len(lengths), made["input_ids"].shape[1] - lengths.pop()))
        return made

    monkeypatch.setattr(model("sst2").network, "inputs", seen)
    question = InputGradient(*(Text.of(text) for text in TEXTS), aim=Aim(0))
    answers, tokens = Batcher(10_000).answers(model("sst2"), InputGradient, question.rows(model("sst2")))
    assert len(answers) == len(tokens) == len(TEXTS)
    assert {(lengths, beyond) for _, lengths, beyond in shapes} == {(1, 0)}
    assert sum(rows for rows, _, _ in shapes) == len(TEXTS)
    assert len(shapes) < len({len(text.split()) for text in TEXTS}), "fewer batches than there are lengths"


def test_rows_are_padded_no_further_than_the_model_sees() -> None:
    network = model("sst2").network
    assert [network.width(length, 8) for length in (1, 8, 9)] == [8, 8, 16]
    assert network.width(network.encoder.window - 1, 1000) == network.encoder.window
    assert network.width(9, 1) == 9


def test_where_padding_reaches_the_answer_rows_are_not_padded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert model("sst2").step == 8
    monkeypatch.setattr(model("sst2"), "found", replace(model("sst2").found, company="equal"))
    assert model("sst2").step == 1


@pytest.mark.parametrize("sequences", [1, 2, 7])
def test_a_linear_layer_with_few_rows_adds_up_as_with_many(sequences: int) -> None:
    torch.manual_seed(0)
    layer, rows = torch.nn.Linear(384, 384), torch.randn(32, 384)

    def run(given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        given = given.clone().requires_grad_()
        out = layer(given)
        return out.detach(), torch.autograd.grad(out.square().sum(), given)[0]

    with sums_as_in_company(sequences):
        alone = run(rows[:sequences])
    for own, among in zip(alone, run(rows), strict=True):
        assert own.shape == (sequences, 384)
        assert torch.equal(own, among[:sequences])
