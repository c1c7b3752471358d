"""Labelled texts of the attention tests, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from assay.data.example import Example
from assay.errors import BadInput, EmptyText
from assay.text.labelled import LabelledTexts
from assay.workflows.attention_tests.split import splits


def test_examples_pairs_and_tuples_are_read() -> None:
    rows: list[Any] = [("a film", "x"), ["a film", "y"], Example("1", ("a film",), "x")]
    assert LabelledTexts.of(rows, "train") == LabelledTexts("train", [("a film",)] * 3, ["x", "y", "x"])
    assert LabelledTexts.of([(("a", "b"), "x")], "train").strings == [("a", "b")]


GOOD: Any = [("a film", "x"), ("a plot", "y")]


@pytest.mark.parametrize(
    ("train", "dev", "test", "said"),
    [
        ([], None, GOOD, "no texts in train"),
        (GOOD, [], GOOD, "no texts in dev"),
        ([("a", "x"), ("b", "x")], None, GOOD, "only one label"),
        (GOOD, [("a", "z")], GOOD, "'z' is in dev"),
        (GOOD, None, [("a", "z")], "'z' is in test"),
        (GOOD, None, [(("a", "b"), "x")], "all be pairs"),
        (["a film"], None, GOOD, "row 1 of train needs a label that is a string: give each row as a pair"),
        ([("a", 1.5), ("b", 2.5)], None, GOOD, "label that is a string"),
        ([*GOOD, Example("1", ("a",))], None, GOOD, "row 3 of train needs a label"),
    ],
)
def test_data_without_sense_is_refused(train: Any, dev: Any, test: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        splits(train, dev, test)


def test_a_text_without_a_word_is_refused() -> None:
    with pytest.raises(EmptyText, match="row 2 of test"):
        splits(GOOD, None, [("a", "x"), (" ", "y")])
