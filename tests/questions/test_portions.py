"""Questions about very long texts: asked in portions, with the same answers, in bounded memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.questions import portions
from assay.questions.erasers import each

TEXT = "the plot is dull and slow but the cast is not very bad"


def function(texts: list[str]) -> Any:
    return np.array([[0.5, 0.5] if len(text) % 2 else [0.4, 0.6] for text in texts])


@pytest.mark.parametrize("n", [0, 1, 5, 1024, 1025])
def test_masks_leave_out_one_word_each(n: int) -> None:
    np.testing.assert_array_equal(each(n), ~np.eye(n, dtype=bool))
    assert each(n).shape == (n, n)


@pytest.mark.parametrize("cells", [1, 30, 100])
@pytest.mark.parametrize("method", ["leave_one_out", "kernel_shap", "lime", "input_marginalization"])
def test_answers_and_costs_are_the_same_in_portions(method: str, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def noted(texts: list[str]) -> Any:
        asked.extend(texts)
        return function(texts)

    model = assay.load(noted)
    engine = Engine(model, resolve=lambda name: assay.load(tiny.masked_lm()))
    whole = assay.explain(model, TEXT, method, engine=engine, progress=False)
    monkeypatch.setattr(portions, "CELLS", cells)
    asked.clear()
    engine = Engine(model, resolve=lambda name: assay.load(tiny.masked_lm()))
    parts = assay.explain(model, TEXT, method, engine=engine, progress=False)
    assert len(asked) == len(set(asked)), "asked twice"
    assert parts.about.cost == whole.about.cost
    np.testing.assert_allclose(parts.scores, whole.scores, rtol=1e-9)


@pytest.mark.parametrize(("labels", "problem"), [(1, None), (3, "multi_label_classification")])
def test_logits_are_the_same_in_portions(labels: int, problem: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two columns of a model with one logit are halves of it, of every portion."""
    model = assay.load(tiny.bert(num_labels=labels, problem=problem))
    whole = assay.explain(model, TEXT, "leave_one_out", scalar="logit", progress=False)
    monkeypatch.setattr(portions, "CELLS", 30)
    parts = assay.explain(model, TEXT, "leave_one_out", scalar="logit", progress=False)
    np.testing.assert_allclose(parts.scores, whole.scores, atol=1e-5)
    assert np.abs(whole.scores).max() > 1e-3


def test_deletion_is_the_same_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = assay.check(assay.load(function), [TEXT], ["leave_one_out"], ["deletion"], progress=False)
    monkeypatch.setattr(portions, "CELLS", 20)
    parts = assay.check(assay.load(function), [TEXT], ["leave_one_out"], ["deletion"], progress=False)
    assert [one.mean for one in parts] == [one.mean for one in whole]


def test_the_memory_of_a_long_text_is_bounded() -> None:
    """All versions of these 4,000 words take 240 MB; of 20,000 words it were 5.4 GB, and 180 MB in portions."""
    text = " ".join(f"w{i}" for i in range(4000))
    model = assay.load(function)
    tracemalloc.start()
    try:
        assay.explain(model, text, "leave_one_out", progress=False)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 120e6
