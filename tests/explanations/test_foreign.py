"""Scores of other tools, in every form that they come in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from assay.errors import BadInput
from assay.explanations.foreign import Label, foreign_scores

LABEL = Label(1, "positive")


@pytest.mark.parametrize(
    "source",
    [
        [("a", 1), ("b", 2)],
        [["a", 1.0], ["b", 2.0]],
        {"a": 1, "b": 2},
        {"words": ["a", "b"], "scores": [1, 2]},
        {"tokens": ("a", "b"), "scores": torch.tensor([1.0, 2.0], requires_grad=True)},
        {"scores": [["a", 1], ["b", 2]]},
    ],
)
def test_tokens_and_scores(source: Any) -> None:
    found = foreign_scores(source, LABEL)
    assert found.tokens == ("a", "b")
    assert found.scores.tolist() == [1, 2]


@pytest.mark.parametrize("source", [[1, 2], np.array([1, 2]), torch.tensor([[1.0, 2.0]]), {"scores": (1, 2)}])
def test_numbers_alone(source: Any) -> None:
    found = foreign_scores(source, LABEL)
    assert found.tokens is None
    assert found.scores.tolist() == [1, 2]


def test_vectors_are_summed_and_it_is_said() -> None:
    found = foreign_scores(torch.ones(1, 3, 4), LABEL)
    assert found.scores.tolist() == [4, 4, 4]
    assert found.warnings == ("given as vectors: summed over the embedding",)


def test_inseq_of_a_source_and_of_a_prompt() -> None:
    tokens = [SimpleNamespace(token=t, id=i) for i, t in enumerate(["▁a", "▁film", "</s>"])]
    weights = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    common = {"attr_pos_start": 0, "source_attributions": None, "target_attributions": None}
    one = SimpleNamespace(**{**common, "source": tokens, "target": [], "source_attributions": weights})
    assert foreign_scores(SimpleNamespace(sequence_attributions=[one]), LABEL).scores.tolist() == [3, 7, 11]
    nan = float("nan")
    grown = torch.tensor([[1.0, 2.0], [3.0, 4.0], [nan, 5.0]])
    prompted = {"source": [], "target": tokens, "target_attributions": grown, "attr_pos_start": 2}
    found = foreign_scores(SimpleNamespace(**{**common, **prompted}), LABEL)
    assert found.tokens == ("▁a", "▁film")
    assert found.scores.tolist() == [3, 7]


def test_ferret_takes_the_explained_label_only() -> None:
    source = SimpleNamespace(text="a film", tokens=["[CLS]", "a", "film", "[SEP]"], scores=np.arange(4.0))
    source.explainer, source.target = "LIME", LABEL.index
    found = foreign_scores(source, LABEL)
    assert found.tokens == ("[CLS]", "a", "film", "[SEP]")
    assert found.scores.tolist() == [0, 1, 2, 3]
    source.target = LABEL.index + 1
    with pytest.raises(BadInput, match="not of 'positive'"):
        foreign_scores(source, LABEL)


def test_interpreto_takes_the_class_that_is_explained() -> None:
    source = SimpleNamespace(
        attributions=torch.tensor([[1.0, 2.0], [3.0, 4.0]]), elements=["a", "b"], classes=torch.tensor([0, 1])
    )
    assert foreign_scores(source, LABEL).scores.tolist() == [3, 4]
    source.classes = torch.tensor([0, 2])
    with pytest.raises(BadInput, match="not of 'positive'"):
        foreign_scores(source, LABEL)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("words", "scores of a text are"),
        ([[("a", 1)]], "scores of a text are"),
        ([1, float("nan")], "NaN"),
        ({"words": ["a"], "scores": [1, 2]}, "2 for 1 tokens"),
        (np.zeros((2, 2, 2)), "a row of numbers"),
        (None, "scores of a text are"),
    ],
)
def test_what_is_no_score_is_refused(source: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        foreign_scores(source, LABEL)
