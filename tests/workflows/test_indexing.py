"""An index on disk: the same scores as without it, resumable, and refused where it is not what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.cli import main
from assay.errors import BadFile, BadInput, UnknownName
from assay.text import gradient_index
from influence_toys import fit, fitted, reviews

TRAIN = list(reviews())


def test_an_index_gives_the_same_scores_and_no_gradient_of_the_training_set(tmp_path: Path) -> None:
    model = fitted(decay=0.01)
    made = assay.index(model, TRAIN, tmp_path / "index", layers="head", project=64, progress=False)
    assert len(made) == len(TRAIN)
    settings = {"layers": "head", "project": 64}
    plain = assay.explain(model, "a warm and funny film", "trak", train=TRAIN, progress=False, **settings)
    found = assay.explain(model, "a warm and funny film", "trak", index=tmp_path / "index", progress=False)
    np.testing.assert_allclose(found.scores, plain.scores, rtol=1e-3, atol=1e-6)
    assert [one.text for one in found.examples] == [one.text for one in plain.examples]
    assert found.about.cost.backwards == 2 < plain.about.cost.backwards
    assert type(found).from_json(found.to_json()).to_dict() == found.to_dict()


def test_a_killed_index_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradient_index, "PART", 16)
    monkeypatch.setattr("assay.workflows.indexing.PART", 16)
    model, place = fitted(decay=0.01), tmp_path / "index"
    assay.index(model, TRAIN, place, layers="head", project=32, progress=False)
    whole = np.concatenate(list(gradient_index.GradientIndex(place).gradients()))
    first, last = gradient_index.part_path(place, 0), gradient_index.part_path(place, 3)
    before = first.stat().st_mtime_ns
    last.unlink()
    with pytest.raises(BadInput, match="is not finished: 1 of its 4 parts are missing"):
        gradient_index.GradientIndex(place)
    assay.index(model, TRAIN, place, layers="head", project=32, progress=False)
    assert first.stat().st_mtime_ns == before
    np.testing.assert_array_equal(np.concatenate(list(gradient_index.GradientIndex(place).gradients())), whole)
    with pytest.raises(BadInput, match="holds another index \\(it differs in project\\)"):
        assay.index(model, TRAIN, place, layers="head", project=16, progress=False)
    wrong = [*TRAIN[:20], ("a film", "great")]
    with pytest.raises(BadInput, match="row 21 of the training set has the label 'great'"):
        assay.index(model, wrong, tmp_path / "wrong", layers="head", project=16, progress=False)


def test_an_index_of_another_model_is_refused(tmp_path: Path) -> None:
    assay.index(fitted(decay=0.01), TRAIN, tmp_path / "index", layers="head", project=32, progress=False)
    with pytest.raises(BadInput, match="made with other weights"):
        assay.explain(fitted(decay=0.1), "a film", "trak", index=tmp_path / "index", progress=False)
    other = [(text, {"good": "fine", "bad": "poor"}[label]) for text, label in TRAIN]
    with pytest.raises(BadInput, match="is of another model: its labels are bad, good"):
        assay.explain(fit(other, tmp_path / "o"), "a film", "trak", index=tmp_path / "index", progress=False)
    with pytest.raises(BadFile, match="holds no index"):
        assay.explain(fitted(decay=0.01), "a film", "trak", index=tmp_path, progress=False)


def test_the_same_rows_make_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradient_index, "PART", 16)
    monkeypatch.setattr("assay.workflows.indexing.PART", 16)
    places = [tmp_path / name for name in "abc"]
    for place in places:
        assay.index(fitted(decay=0.01), TRAIN, place, layers="head", project=32, progress=False)
    first, *others = ({path.name: path.read_bytes() for path in place.iterdir()} for place in places)
    assert len(first) >= 9
    assert all(one == first for one in others)


def test_an_executor_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="rya"):
        assay.index(fitted(decay=0.01), TRAIN, tmp_path / "index", executor="rya", progress=False)
    assert not (tmp_path / "index").exists()


def test_the_commands(tmp_path: Path, capsys: Any) -> None:
    fit(TRAIN, tmp_path / "bag", decay=0.01)
    table = tmp_path / "train.csv"
    table.write_text("text,gold\n" + "".join(f"{text},{label}\n" for text, label in TRAIN), encoding="utf-8")
    model = ["--model", str(tmp_path / "bag")]
    files = ["--train", str(table), "--column", "text", "--label-column", "gold"]
    assert main(["index", *model, *files, "--layers", "head", "--project", "64", "--out", str(tmp_path / "i")]) == 0
    assert "60 rows of 64 numbers" in capsys.readouterr().err
    assert main(["explain", "a funny film", *model, "-m", "trak", "--index", str(tmp_path / "i"), "--json"]) == 0
    assert '"kind": "Examples"' in capsys.readouterr().out
    assert main(["explain", "a funny film", *model, "-m", "tracin,influence_functions", *files]) == 0
    assert "Pushed toward" in capsys.readouterr().out
    for wrong, said in {
        ("-m", "tracin"): "give train=",
        ("-m", "tracin", "--train", str(table)): "no column 'label'",
        ("-m", "lime", "--train", str(table), "--label-column", "gold"): "--train is for methods that search",
        ("-m", "tracin", "--train", str(tmp_path / "none.csv")): "none.csv",
        ("-m", "tracin", "--index", str(tmp_path / "i")): "--index is for methods that read an index: trak",
    }.items():
        assert main(["explain", "a funny film", *model, *wrong]) == 2
        assert said in capsys.readouterr().err
