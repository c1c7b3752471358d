"""A label by its name or its number, and never the one taken for the other."""

from __future__ import annotations

import pytest

import assay
from assay.errors import UnknownName
from assay.explanations.reading import label_index
from assay.models import BlackBox


def model(*labels: str) -> BlackBox:
    return BlackBox(lambda texts: [[1 / len(labels)] * len(labels) for _ in texts], labels=labels)


def test_numbers_are_places_where_labels_have_words_for_names() -> None:
    assert [label_index(model("bad", "good"), label) for label in ("good", "1", 1, "0", 0)] == [1, 1, 1, 0, 0]


def test_numbers_are_names_where_labels_are_called_by_numbers() -> None:
    stars = model("1", "2", "3")
    assert [label_index(stars, label) for label in ("1", "2", "3", 0, 1, 2)] == [0, 1, 2, 0, 1, 2]
    with pytest.raises(UnknownName, match="0"):  # the place 0 is the label 1: two labels of a file would become one
        label_index(stars, "0")
    assert assay.explain(stars, "a film", "random", target="2").label == "2"
