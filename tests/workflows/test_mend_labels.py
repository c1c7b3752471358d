"""Mending labels: planted wrong labels are found, corrected and measured; sheets of people are read with care."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.cli import main
from assay.engine.engine import Engine
from assay.errors import AssayError, BadInput, UnknownName
from assay.text.labelled import LabelledTexts
from assay.training.attentive import Attend
from assay.training.bag import Bag
from assay.training.fit import Plan
from assay.training.known_recipe import recipe_of
from assay.workflows.mend_labels import LabelMending, mend_labels
from assay.workflows.mend_labels.sheet import SHEET, corrections, sheet
from assay.workflows.mend_labels.signs import Signs, folds_of
from assay.workflows.mend_labels.suspects import Suspect, suspects
from influence_toys import fit, reviews

# Few texts and a weak penalty: the model learns the wrong labels, so that correcting them changes it.
TRUE = reviews(160, flipped=0.0)
WRONG = frozenset(np.random.default_rng(1).permutation(160)[:24].tolist())
OTHER = {"good": "bad", "bad": "good"}
GIVEN = [(text, OTHER[label] if i in WRONG else label) for i, (text, label) in enumerate(TRUE)]
DEV = list(reviews(400, seed=5, flipped=0.0))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, LabelMending]:
    place = tmp_path_factory.mktemp("labels")
    fit(GIVEN, place / "bag", decay=0.001)
    return place / "bag", place / "out", mend_labels(place / "bag", GIVEN, dev=DEV, out=place / "out", folds=4)


def filled(sheet: Path, out: Path, labels: Mapping[int, str], column: str = "corrected") -> Path:
    """The sheet as a person would give it back; the labels go by the numbers of rows, from 1."""
    with sheet.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row[column] = labels.get(int(row["row"]), "")
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return out


RIGHT = {i + 1: label for i, (_, label) in enumerate(TRUE)}


def test_planted_wrong_labels_come_first(made: tuple[Path, Path, LabelMending]) -> None:
    found = made[2]
    first = [one.row - 1 for one in found.suspects[: len(WRONG)]]
    assert len(WRONG & set(first)) / len(WRONG) > 4 * 0.15  # .15 is what a random list has
    assert len(found.suspects) <= 32  # a fifth of the rows
    assert all(one.given != one.suggested for one in found.suspects)
    caught = [one for one in found.suspects if one.row - 1 in WRONG]
    assert all(one.suggested == TRUE[one.row - 1][1] for one in caught)
    assert np.mean([one.signs == (3, 3) for one in caught]) > 0.7
    assert [one.suspicion for one in found.suspects] == sorted((one.suspicion for one in found.suspects), reverse=True)


def test_the_words_say_the_suggested_label(made: tuple[Path, Path, LabelMending]) -> None:
    from influence_toys import BAD, GOOD

    for one in made[2].suspects[:10]:
        assert one.words
        assert one.words[0] in (GOOD if one.suggested == "good" else BAD)
        assert f"says “{one.suggested}”" in one.why


def test_corrections_help(made: tuple[Path, Path, LabelMending], tmp_path: Path) -> None:
    model, out, found = made
    again = mend_labels(
        model, GIVEN, dev=DEV, out=out, folds=4, corrections=filled(out / SHEET, tmp_path / "a.csv", RIGHT), seeds=1
    )
    done = again.correction
    assert done is not None
    assert done.looked_at == len(found.suspects)
    assert done.changed == sum(one.row - 1 in WRONG for one in found.suspects) == done.as_suggested
    before, after = done.accuracies
    assert done.change.value == pytest.approx(after.value - before.value)
    # Independently: the same recipe on the labels with these corrections.
    mended = [
        (text, TRUE[i][1] if i + 1 in {s.row for s in found.suspects} else y) for i, (text, y) in enumerate(GIVEN)
    ]
    reader = fit(mended, tmp_path / "bag", decay=0.001)
    said = [reader.labels[i] for i in reader.predict([text for text, _ in DEV]).argmax(axis=1)]
    assert after.value == pytest.approx(np.mean([a == b for a, (_, b) in zip(said, DEV, strict=True)]))
    assert done.change.low > 0
    opened = assay.load(out / done.model)
    assert opened.predict([DEV[0][0]]) == pytest.approx(reader.predict([DEV[0][0]]), abs=1e-6)
    assert "instead of" in (out / "labels.html").read_text(encoding="utf-8")


def test_wrong_corrections_hurt(made: tuple[Path, Path, LabelMending], tmp_path: Path) -> None:
    """What is measured can go down: a person who writes the opposite everywhere makes it worse."""
    model, out, found = made
    worse = {one.row: OTHER[RIGHT[one.row]] for one in found.suspects}
    again = mend_labels(
        model, GIVEN, dev=DEV, out=out, folds=4, corrections=filled(out / SHEET, tmp_path / "b.csv", worse), seeds=1
    )
    assert again.correction is not None
    assert again.correction.change.value < 0.01


def test_the_same_call_trains_nothing_twice(made: tuple[Path, Path, LabelMending], monkeypatch: Any) -> None:
    model, out, found = made
    (out / SHEET).write_text("somebody is writing here", encoding="utf-8")

    def trained(*_: Any, **__: Any) -> None:
        raise AssertionError("it was all there")

    monkeypatch.setattr(Bag, "make", trained)
    again = mend_labels(model, GIVEN, dev=DEV, out=out, folds=4)
    assert again.suspects == found.suspects
    assert (out / SHEET).read_text(encoding="utf-8") == "somebody is writing here"
    (out / SHEET).write_text(sheet(found.suspects), encoding="utf-8")


def test_a_killed_call_goes_on(made: tuple[Path, Path, LabelMending], tmp_path: Path, monkeypatch: Any) -> None:
    model, _, found = made
    original, calls = Bag.make, []

    def dying(self: Bag, *args: Any, **more: Any) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        original(self, *args, **more)

    monkeypatch.setattr(Bag, "make", dying)
    with pytest.raises(KeyboardInterrupt):
        mend_labels(model, GIVEN, dev=DEV, out=tmp_path / "out", folds=4)
    assert mend_labels(model, GIVEN, dev=DEV, out=tmp_path / "out", folds=4).suspects == found.suspects
    assert len(calls) == 5  # two before the kill, the killed one, and that one and the last again


def test_another_mending_is_refused(made: tuple[Path, Path, LabelMending]) -> None:
    model, out, _ = made
    with pytest.raises(BadInput, match=r"another mending of labels: .*folds"):
        mend_labels(model, GIVEN, dev=DEV, out=out, folds=3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"corrected": ""}, "no row of"),
        ({"corrected": "goood"}, "did you mean 'good'"),
        ({"row": "999"}, "there is no row 999"),
        ({"row": "first"}, "no number"),
        ({"text": "other words"}, "sheet of other data"),
    ],
)
def test_bad_sheets_are_one_sentence(change: dict[str, str], said: str, tmp_path: Path) -> None:
    row = {"row": "1", "text": "a warm film", "given": "bad", "suggested": "good", "corrected": "good", "why": "so"}
    path = tmp_path / "sheet.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(row))
        writer.writeheader()
        writer.writerow(row | change)
    with pytest.raises(AssayError, match=said) as raised:
        corrections(path, {1: ("a warm film",)}, ("bad", "good"))
    assert "\n" not in str(raised.value)


def test_a_row_corrected_twice_and_a_sheet_without_the_column(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("row,corrected\n1,good\n1,bad\n", encoding="utf-8")
    with pytest.raises(BadInput, match="corrected twice"):
        corrections(path, {1: ("a",)}, ("bad", "good"))
    path.write_text("row,label\n1,good\n", encoding="utf-8")
    with pytest.raises(BadInput, match="no column 'corrected'"):
        corrections(path, {1: ("a",)}, ("bad", "good"))


def test_no_cell_is_a_formula_and_texts_read_back(tmp_path: Path) -> None:
    text = "=cmd|' /C calc'!A0"
    one = Suspect(7, (text,), "-1", "+1", 0.9, 0.8, (2, 3), "because “+1”")
    path = tmp_path / SHEET
    path.write_text(sheet([one]), encoding="utf-8")
    with path.open(newline="", encoding="utf-8") as stream:
        [line] = csv.DictReader(stream)
    assert line["text"] == f"'{text}"
    assert (line["given"], line["suggested"]) == ("'-1", "'+1")
    back = filled(path, tmp_path / "back.csv", {7: "'+1"})
    assert corrections(back, {7: (text,)}, ("-1", "+1")) == {7: "+1"}


def test_same_texts_are_left_out_together() -> None:
    texts = [("a",), ("b",), ("c",), ("d",), ("a",), ("e",), ("b",), ("f",)]
    fold = folds_of(texts, 3, 0)
    assert fold[0] == fold[4]
    assert fold[1] == fold[6]
    assert set(fold.tolist()) == {0, 1, 2}
    with pytest.raises(BadInput, match="4 folds need at least 8 different texts; there are 6"):
        folds_of(texts, 4, 0)


def test_suspicion_is_the_mean_place_and_a_twin_is_named() -> None:
    data = LabelledTexts("data", [("a b",), ("a b",), ("c d",)], ["bad", "good", "bad"])
    chances = np.array([[0.2, 0.8], [0.2, 0.8], [0.9, 0.1]])
    found = Signs(chances, np.array([0.9, 0.7, 0.8]), np.array([3.0, 1.0, 2.0]), np.array([0, 0, 1]), ("x", "y"))
    # by out-of-fold 1, .5, 0; by the model 0, 1, .5; by self-influence 1, 0, .5
    np.testing.assert_allclose(found.suspicion(np.array([0, 1, 0])), [2 / 3, 0.5, 1 / 3])
    [one] = suspects(data, [4, 5, 6], ("bad", "good"), found, 10)
    assert (one.row, one.given, one.suggested, one.signs) == (4, "bad", "good", (2, 3))
    assert "the model gives its label 0.90, having learned it" in one.why
    assert "row 5 has the same text and the label “good”" in one.why


def test_labels_the_model_does_not_have(made: tuple[Path, Path, LabelMending], tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="row 2 of data"):
        mend_labels(made[0], [("a film", "good"), ("a plot", "gut")], out=tmp_path / "x")


def test_a_black_box_is_looked_at_by_two_signs(tmp_path: Path) -> None:
    def always(texts: list[str]) -> np.ndarray:
        return np.tile([0.4, 0.6], (len(texts), 1))

    model = assay.BlackBox(always, labels=("bad", "good"))
    found = mend_labels(model, GIVEN, out=tmp_path / "out", recipe="words", folds=3)
    assert found.suspects[0].signs[1] == 2
    assert found.rows == 128
    assert any("were set aside" in warning for warning in found.warnings)
    rows = {one.row - 1 for one in found.suspects[:20]}
    assert len(rows & WRONG) >= 10  # a random list would have 3
    assert all(GIVEN[one.row - 1] == (one.strings[0], one.given) for one in found.suspects)


def test_the_recipe_of_a_directory(made: tuple[Path, Path, LabelMending], tmp_path: Path) -> None:
    assert recipe_of(made[0]) == Bag(decay=0.001)
    how = Attend(hidden=8, size=4, plan=Plan(epochs=1, optimiser="adam", undecayed=("attention.",)))
    texts, labels = [(text,) for text, _ in GIVEN[:12]], [label for _, label in GIVEN[:12]]
    how.make(texts, labels, 3, tmp_path / "lstm")
    assert recipe_of(tmp_path / "lstm") == how  # but for the seed, which is no part of a recipe
    assert recipe_of(tmp_path) is None


def test_the_command_line(made: tuple[Path, Path, LabelMending], tmp_path: Path, capsys: Any) -> None:
    data = tmp_path / "data.csv"
    with data.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("text", "label"), *GIVEN[:80]])
    command = ("mend-labels", "--model", str(made[0]), "--data", str(data), "--out", str(tmp_path / "out"))
    more = ("--folds", "2", "--seeds", "1")
    assert main((*command, *more)) == 0
    said = capsys.readouterr().out
    assert "signs" in said
    assert max(map(len, said.splitlines())) <= 80
    sheet_file = filled(tmp_path / "out" / SHEET, tmp_path / "done.csv", RIGHT)
    assert main((*command, *more, "--corrections", str(sheet_file), "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told["correction"]["accuracy"]) == {"before", "after", "change"}
    assert main((*command, *more, "--corrections", str(tmp_path / "none.csv"))) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_all_right_is_said(made: tuple[Path, Path, LabelMending]) -> None:
    assert "No label of the 5 rows looks wrong" in str(LabelMending("m", 5, 0, ()))
    assert sheet(()).startswith('"row","text"')
    assert Engine(assay.load(made[0])).model.labels == ("bad", "good")
