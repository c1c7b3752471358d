"""Scores that were given are tested as if a method of ours had made them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.errors import BadInput, UnknownName
from assay.text.scores_file import ScoresFile

TEXTS: list[Any] = ["the film was good , really good", "a slow and dull plot", "Don't miss this unforgettable cast !"]
CHECKS = ["deletion", "sufficiency", "comprehensiveness", "insertion", "infidelity"]


@pytest.fixture(scope="module")
def model() -> Any:
    return assay.load(tiny.bert())


@pytest.mark.parametrize("form", ["array", "pairs", "dictionary", "ours"])
def test_the_verdicts_are_those_of_the_method_itself(model: Any, form: str) -> None:
    forms = {
        "array": lambda e: e.scores,
        "pairs": lambda e: list(zip(e.words, e.scores, strict=True)),
        "dictionary": lambda e: {"words": e.words, "scores": e.scores},
        "ours": lambda e: e,
    }
    made = assay.explain(model, TEXTS, "leave_one_out")
    own = assay.check(model, TEXTS, ["leave_one_out"], CHECKS)
    given = assay.check(model, TEXTS, scores={"mine": [forms[form](e) for e in made]}, checks=CHECKS)
    assert [v.method for v in given] == ["mine"] * len(CHECKS)
    for a, b in zip(own, given, strict=True):
        np.testing.assert_allclose(a.scores, b.scores, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(a.random_scores, b.random_scores, rtol=1e-4, atol=1e-6)
        assert a.interval == pytest.approx(b.interval, rel=1e-3, abs=1e-6)


def test_scores_of_pieces_with_and_without_special_tokens(model: Any) -> None:
    """The number of scores says what they belong to."""
    text = "Don't miss this unforgettable cast !"
    owners = model.pieces_of(assay.Text.of(text))
    pieces = np.arange(1.0, owners.pieces + 1)
    inner = pieces.copy()
    inner[[0, -1]] = 0
    wanted = owners.per_word(inner)
    for scores in (pieces, pieces[1:-1]):
        np.testing.assert_allclose(assay.given(model, text, scores).scores, wanted)
    assert any("not aligned" in warning for warning in assay.given(model, text, pieces).warnings)
    assert not assay.given(model, text, pieces[1:-1]).warnings


def test_scores_of_chunks_between_blanks(model: Any) -> None:
    e = assay.given(model, "Don't miss this, unforgettable cast!", [1, 2, 3, 4, 5])
    assert dict(zip(e.words, e.scores, strict=True)) == {
        "Don't": 1, "miss": 2, "this": 1.5, ",": 1.5, "unforgettable": 4, "cast": 2.5, "!": 2.5
    }  # fmt: skip


def test_a_text_beyond_the_window(model: Any) -> None:
    text = "very dull " * 60
    e = assay.given(model, text, np.arange(120.0))
    np.testing.assert_array_equal(e.scores, np.arange(float(len(e.words))))
    assert e.truncated
    assert any("beyond the model's window" in warning for warning in e.warnings)


def test_a_black_box_and_a_pair() -> None:
    model = assay.BlackBox(lambda rows: np.array([[0.2, 0.8]] * len(rows)), labels=["no", "yes"])
    assert assay.given(model, "a fine film", [1, 2, 3]).scores.tolist() == [1, 2, 3]
    with pytest.raises(BadInput, match="3 words, 3 between blanks; give pairs"):
        assay.given(model, "a fine film", [1, 2])
    model.fields = ("premise", "hypothesis")
    e = assay.given(model, ("a man", "he sleeps"), [("a", 1), ("man", 2), ("he", 3), ("sleeps", 4)])
    assert e.scores.tolist() == [1, 2, 3, 4]


def test_the_name_of_a_method_does_not_make_it_one(model: Any) -> None:
    """Scores that are called lime must not be made again by our LIME."""
    with pytest.raises(BadInput, match="were given, so they cannot be made again"):
        assay.check(model, TEXTS[:1], scores={"lime": [np.ones(7)]}, checks=["stability"])


def test_the_card_of_given_scores(model: Any) -> None:
    made = assay.explain(model, TEXTS[0], "leave_one_out")
    card = assay.trust(model, TEXTS[0], scores={"mine": made.scores})
    assert [standing.name for standing in card.standings] == ["mine"]
    assert "were given" in card.left_out["randomization"]
    assert "mine" in card.to_html()
    both = assay.trust(model, TEXTS[0], ["leave_one_out"], ["deletion"], scores=made.scores)
    assert {standing.name for standing in both.standings} == {"given", "leave_one_out"}


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ({"mine": [[1, 2]]}, "3 texts, so the scores of 'mine'"),
        ({"mine": 3}, "3 texts, so the scores of 'mine'"),
        ({"mine": [[1], [1], [1]]}, "text 1: 1 scores were given"),
    ],
)
def test_scores_that_do_not_fit_are_refused(model: Any, scores: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        assay.check(model, TEXTS, scores=scores, checks=["deletion"])


def test_nothing_to_test_is_said(model: Any) -> None:
    with pytest.raises(BadInput, match="something to test"):
        assay.check(model, TEXTS, checks=["deletion"])
    with pytest.raises(BadInput, match="something to test"):
        assay.check(model, TEXTS, ["leave_one_out"])


def test_a_saved_explanation_remembers_that_it_was_given(model: Any) -> None:
    e = assay.given(model, TEXTS[1], [1, 2, 3, 4, 5], name="mine")
    assert assay.TokenScores.from_json(e.to_json()).about.given


def test_one_name_needs_no_list(model: Any) -> None:
    (verdict,) = assay.check(model, TEXTS, "leave_one_out", "deletion")
    assert (verdict.method, verdict.check) == ("leave_one_out", "deletion")
    card = assay.trust(model, TEXTS[0], "leave_one_out", "deletion")
    assert [standing.name for standing in card.standings] == ["leave_one_out"]


def test_checks_that_train_refuse_given_scores(model: Any) -> None:
    with pytest.raises(BadInput, match="tests methods, not given scores"):
        assay.check(model, TEXTS, scores={"mine": [1, 2, 3]}, checks="roar")


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_file_of_scores(tmp_path: Path) -> None:
    path = write(
        tmp_path / "mine.jsonl",
        '{"text": "a b", "scores": [1, 2]}',
        '{"text": "a b", "scores": [["a", 3], ["b", 4]], "method": "theirs"}',
        '{"text": "c", "scores": [5], "tokens": ["c"]}',
        '{"text": "c", "scores": [6], "name": "theirs"}',
    )
    found = ScoresFile.read(path)
    assert found.texts == ["a b", "c"]
    assert found.scores["mine"] == [{"scores": [1, 2]}, {"scores": [5], "words": ["c"]}]
    assert found.scores["theirs"] == [{"scores": [["a", 3], ["b", 4]]}, {"scores": [6]}]


def test_our_own_lines_are_such_a_file(model: Any, tmp_path: Path) -> None:
    made = assay.explain(model, TEXTS, "leave_one_out")
    found = ScoresFile.read(write(tmp_path / "x.jsonl", *(e.to_json() for e in made)))
    given = assay.check(model, found.texts, scores=found.scores, checks=["deletion"])
    own = assay.check(model, TEXTS, ["leave_one_out"], ["deletion"])
    np.testing.assert_allclose(given[0].scores, own[0].scores, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"text": "a"}'], "no column 'scores'"),
        (['{"scores": [1]}'], "no column 'text'"),
        (['{"text": "a", "scores": "x"}'], "no list of numbers"),
        (['{"text": 3, "scores": [1]}'], "has no text"),
        (['{"text": "a", "scores": [1]}', '{"text": "b", "scores": [1], "name": "x"}'], "score other texts"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, lines: list[str], said: str) -> None:
    with pytest.raises((BadInput, UnknownName), match=said):
        ScoresFile.read(write(tmp_path / "f.jsonl", *lines))
