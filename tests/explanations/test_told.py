"""`told` changes fields: those that are never checked without making the rest anew, all others as `replace` does."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from assay.explanations.about import NOTHING, About, Cost, changed
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.answers import Predictions
from assay.text.text import Text


@pytest.fixture
def e() -> TokenScores:
    return TokenScores(Case(Text.of("a fine film"), 1), np.array([0.1, 0.5, -0.2]), facts={"gap": 0.0})


def test_unchecked_fields_are_changed_as_replace_changes_them(e: TokenScores) -> None:
    new = {"facts": {"gap": 1.0}, "warnings": ("w",), "prediction": {"a": 0.5}, "unseen": ((1, 2),), "given": ("x",)}
    told, replaced = e.told(**new, about=About(method="m")), replace(e, **new, about=About(method="m"))
    assert told.to_dict() == replaced.to_dict()
    assert (e.facts, e.warnings, e.about.method) == ({"gap": 0.0}, (), "")
    with pytest.raises(FrozenInstanceError):
        told.warnings = ()  # type: ignore[misc]


def test_what_is_checked_when_it_is_made_is_checked_when_it_is_changed(e: TokenScores) -> None:
    with pytest.raises(ValueError, match="finite scores"):
        e.told(scores=np.array([1.0, np.nan, 0.0]), facts={})
    with pytest.raises(TypeError, match="no_such_field"):
        e.told(no_such_field=1)


def test_what_a_property_has_cached_is_not_taken_along(e: TokenScores) -> None:
    assert e.ranking.tolist() == [1, 0, 2]
    flipped = e.told(facts={}).told(scores=-e.scores)
    assert flipped.ranking.tolist() == [2, 0, 1]
    assert "ranking" not in vars(changed(e, facts={}))


def test_costs_add_up_with_and_without_nothing() -> None:
    one, two = Cost(5, 3, 1, 40, 2, 7, 1), Cost(1, 1, 0, 9, 0, 0, 0)
    assert one + two == Cost(6, 4, 1, 49, 2, 7, 1)
    assert NOTHING + one is one
    assert one + NOTHING is one
    assert NOTHING + Cost() == Cost()


def test_log_odds_of_two_labels_are_those_of_the_formula_for_many() -> None:
    logits = np.random.default_rng(0).normal(size=(50, 2)) * 9
    third = np.full((50, 1), -1e30)  # a label that is never right
    for target in (0, 1):
        expected = Predictions(np.hstack([logits, third])).value(target)
        assert np.array_equal(Predictions(logits).value(target), expected)
