"""Labels that a model calls alike get names that differ, and nothing else is renamed."""

from __future__ import annotations

import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.models.label_names import distinct


@given(st.lists(st.sampled_from(["x", "y", "x (0)", "x (1)", "x (1)'", ""]), min_size=1, max_size=7))
def test_names_differ_and_single_ones_stay(given: list[str]) -> None:
    names, warnings = distinct(given)
    assert len(set(names)) == len(given)
    assert all(name == old for name, old in zip(names, given, strict=True) if given.count(old) == 1)
    renamed = [(i, name) for i, name in enumerate(names) if name != given[i]]
    assert all(name.startswith(f"{given[i]} ({i})") for i, name in renamed)
    assert len(warnings) == sum(given.count(name) > 1 for name in set(given))


def test_a_configuration_with_one_name_for_two_labels() -> None:
    model, tokenizer = tiny.bert()
    config, before = model.config, model.config.id2label
    config.id2label = {0: "x", 1: "x", 2: "y"}
    try:
        told = assay.explain((model, tokenizer), "a good film", "leave_one_out", target="x (1)")
    finally:
        config.id2label = before
    assert list(told.prediction) == ["x (0)", "x (1)", "y"]
    assert sum(told.prediction.values()) == pytest.approx(1)
    assert (told.target, told.label) == (1, "x (1)")
    assert any("2 labels that are called 'x'" in warning for warning in told.warnings)
