"""Edits: frozen, named by the labels, there and back as plain data, and kept by a run."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.errors import BadInput
from assay.explanations.about import About
from assay.explanations.case import Case
from assay.explanations.edits import Edit, Edits
from assay.text.text import Text
from run_toys import dataset, ran


def path(**more: Any) -> Edits:
    text = Text.of(("a man", "so so good"), focus=["hypothesis"])
    edits = (
        Edit(("a man", "so so good"), {"0": 0.1, "1": 0.9}, (), (0, 1, 2), 1),
        Edit(("a man", "so good"), {"0": 0.2, "1": 0.8}, (("remove", 1, "so"),), (0, 2), 1),
        Edit(("a man", "good"), {"0": 0.3, "1": 0.7}, (("remove", 1, "so"), ("remove", 0, "so")), (2,), 1),
    )
    return Edits(Case(text, 1), edits, edits[-1:], about=About(method="m", labels=("bad", "good")), **more)


def test_the_text_of_an_edit_is_the_string_that_was_edited() -> None:
    assert [edit.text for edit in path().edits] == ["so so good", "so good", "good"]
    assert path().edits[-1].strings == ("a man", "good")


def test_the_edits_get_the_names_of_the_labels() -> None:
    told = path().told(prediction={"bad": 0.1, "good": 0.9})
    assert [edit.prediction for edit in told.edits] == [
        {"bad": 0.1, "good": 0.9},
        {"bad": 0.2, "good": 0.8},
        {"bad": 0.3, "good": 0.7},
    ]
    assert told.shortest == told.edits[-1:]
    assert told.told(warnings=("x",)).edits == told.edits


def test_there_and_back() -> None:
    told = path(facts={"kendall": [0.5, None]}).told(prediction={"bad": 0.1, "good": 0.9})
    back = Edits.from_json(told.to_json())
    assert (back.edits, back.shortest, back.to_dict()) == (told.edits, told.shortest, told.to_dict())
    assert back.words == ("so", "so", "good")
    with pytest.raises(BadInput, match="no Edits"):
        Edits.from_json('{"kind": "Edits"}')


def test_frozen_and_checked() -> None:
    with pytest.raises(FrozenInstanceError):
        path().edits[0].kept = ()  # type: ignore[misc]
    for kept in ((0, 3), (1, 0), (0, 0)):
        with pytest.raises(ValueError, match="in order"):
            Edits(Case(Text.of("a b c"), 0), (Edit(("a",), kept=kept),))


def test_a_table_has_a_row_for_each_edit() -> None:
    table = path().to_frame()
    assert table.text.tolist() == ["so so good", "so good", "good"]
    assert table.words.tolist() == [3, 2, 1]
    assert table.probability.tolist() == [0.9, 0.8, 0.7]
    assert table.position.tolist()[1:] == [1, 0]
    assert table.word.tolist()[1:] == ["so", "so"]


def test_a_run_keeps_them(tmp_path: Path) -> None:
    file = dataset(tmp_path, 12)
    reduction = assay.registry.find_method("input_reduction").make({"importance": "leave_one_out"})
    ran(file, tmp_path / "out", methods=[reduction])
    told = list(assay.open(tmp_path / "out").explanations())
    assert [type(e) for e in told] == [Edits] * 12
    import run_models  # beside the dataset, on the path since the run

    model = assay.BlackBox(run_models.sentiment, name="run_models:sentiment", labels=told[0].about.labels)
    for e in told:
        again = assay.explain(model, str(e.text), reduction)
        assert (e.edits, e.shortest, e.facts) == (again.edits, again.shortest, again.facts)
    assert any(len(e.edits) > 1 for e in told)
