"""Edits that keep the meaning: what they make of texts, and that the words said to stay do stay."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.explanations.case import Case
from assay.explanations.rewordings import dropped, edited
from assay.text.text import Text


def texts_after(source: Any, *kinds: Any, **reading: Any) -> list[tuple[str, ...]]:
    case = Case(Text.of(source, **reading), 1)
    return [change.case.text.strings for change in edited(case, kinds)]


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("case", "The plot, by NASA", "the plot, by nasa"),
        ("case", "the plot", "The plot"),
        ("case", "'s the plot", "'S the plot"),
        ("case", "这部电影", None),
        ("punctuation", "a film!", "a film"),
        ("punctuation", "a film", "a film."),
        ("punctuation", "a film \n", "a film. \n"),
        ("punctuation", "电影好看", "电影好看。"),
        ("punctuation", "好看。", "好看"),
        ("punctuation", "!", None),
        ("punctuation", "a (film)", "a (film)."),
        ("synonym", "a Film and a MOVIE", "a Movie and a FILM"),
        ("synonym", "film", None),
        ("synonym", "nothing here", None),
    ],
)
def test_what_is_changed(kind: str, before: str, after: str | None) -> None:
    assert texts_after(before, kind) == ([] if after is None else [(after,)])


def test_pairs_end_in_the_last_field_that_is_explained() -> None:
    assert texts_after(("a man", "a boy"), "punctuation") == [("a man", "a boy.")]
    assert texts_after(("a man", "a boy"), "punctuation", focus=["premise"]) == [("a man.", "a boy")]
    assert texts_after(("a man", ""), "punctuation") == [("a man.", "")]


def test_another_seed_changes_nothing_but_the_seed() -> None:
    case = Case(Text.of("a film"), 1, seed=4)
    (change,) = edited(case, ["seed"])
    assert (change.case.text, change.case.target, change.case.seed) == (case.text, 1, 5)


def test_dropped_words_differ_and_one_alone_stays() -> None:
    case = Case(Text.of("a b c d e f"), 0)
    found = dropped(case, 3)
    assert len({change.case.text for change in found}) == 3
    assert len(dropped(case, 99)) == 6
    assert not dropped(Case(Text.of("film"), 0), 3)


@given(st.text(alphabet="aB.! '-é中film", min_size=1, max_size=30))
def test_words_that_stay_are_the_same_words(source: str) -> None:
    text = Text.of(source)
    if not text.words:
        return
    case = Case(text, 0)
    for change in [*edited(case, ["case", "punctuation", "synonym", "seed"]), *dropped(case, 2)]:
        new = change.case.text
        assert len(change.before) == len(change.after) > 0
        for i, j in zip(change.before, change.after, strict=True):
            assert new.words[j].lower() == text.words[i].lower()
        for (start, end), word in zip(new.spans, new.words, strict=True):
            assert new.strings[0][start:end] == word
