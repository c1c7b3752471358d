"""The labelled samples that checks of whole samples are given, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from assay.errors import BadInput, EmptyText
from assay.registry.sample_task import SampleTask
from assay.text.example import Example
from assay.text.labelled import LabelledTexts
from assay.text.sample import Sample


def test_examples_pairs_and_tuples_are_read() -> None:
    rows: list[Any] = [("a film", "x"), ["a film", "y"], Example("1", ("a film",), "x")]
    assert LabelledTexts.of(rows, "train") == LabelledTexts("train", [("a film",)] * 3, ["x", "y", "x"])
    assert LabelledTexts.of([(("a", "b"), "x")], "train").strings == [("a", "b")]


def required(train: Any, dev: Any, test: Any) -> None:
    given = {"train": train, "dev": dev, "test": test}
    task = SampleTask(**{name: rows if rows is None else Sample.of(rows, name=name) for name, rows in given.items()})
    task.require_learnable()
    task.require_words()


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
        required(train, dev, test)


def test_a_text_without_a_word_is_refused() -> None:
    with pytest.raises(EmptyText, match="row 2 of test"):
        required(GOOD, None, [("a", "x"), (" ", "y")])


def test_finding_the_checks_imports_no_torch() -> None:
    """Recipes are imported when a check runs: listing what there is must stay quick."""
    script = "import sys, assay.registry as r; print(len(r.checks()), 'torch' in sys.modules, 'sklearn' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert int(found[0]) > 15
    assert found[1:] == ["False", "False"]
