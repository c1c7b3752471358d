"""Resampling, with the masked model played by hand: what it is shown, and what is made of its candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.questions.answers import Fills
from assay.questions.erasers import Order, Resample
from assay.questions.fill import Fill
from assay.text.text import Text

TEXT = Text.of("the film is good")


def played(order: Order, keep: Any, candidates: Any) -> tuple[list[str], list[str]]:
    """The versions, and what was shown for each hole, when the masked model answers with these words."""
    talk, shown = Resample("some", order).erase(TEXT, np.array(keep)), []
    answer: Any = None
    while True:
        try:
            question = talk.send(answer)
        except StopIteration as stop:
            return [row for (row,) in stop.value.rows({})], shown
        assert isinstance(question, Fill)
        assert question.model == "some"
        answer = []
        for kept in question.variants.keep:
            words = tuple(candidates(i)[: question.k] for i in np.flatnonzero(~kept))
            answer.append(Fills(words, np.full((len(words), len(words[0]) if words else 0), 0.1)))
            shown.append(" ".join(w if k else "_" for w, k in zip(question.variants.text.words, kept, strict=True)))


@pytest.mark.parametrize("order", ["at_once", "one_by_one"])
def test_enough_candidates_are_asked_for_to_find_another_word(order: Order) -> None:
    """A cased vocabulary may rank a word first in all its spellings."""
    rows, _ = played(order, [[False, True, True, True]], lambda i: ("the", "The", "THE", "tHe", "a", "an"))
    assert rows == ["a film is good"]


def test_one_by_one_goes_on_from_the_version_before() -> None:
    keep = [[True, False, True, True], [True, False, True, False]]
    rows, shown = played("one_by_one", keep, lambda i: (f"new{i}",))
    assert shown == ["the _ is good", "the new1 is _"]
    assert rows == ["the new1 is good", "the new1 is new3"]


def test_one_by_one_shows_a_word_that_is_back_as_it_was() -> None:
    keep = [[True, False, True, True], [True, True, True, False]]
    rows, shown = played("one_by_one", keep, lambda i: (f"new{i}",))
    assert shown == ["the _ is good", "the film is _"]
    assert rows == ["the new1 is good", "the film is new3"]


def test_one_by_one_asks_again_for_a_hole_that_was_closed() -> None:
    keep = [[True, False, True, True], [True, True, True, True], [True, False, True, False]]
    _, shown = played("one_by_one", keep, lambda i: (f"new{i}",))
    assert shown == ["the _ is good", "the _ is good", "the new1 is _"]


def test_at_once_shows_all_holes_together() -> None:
    keep = [[True, False, True, False], [True, True, True, True]]
    rows, shown = played("at_once", keep, lambda i: (f"new{i}",))
    assert shown == ["the _ is _", "the film is good"]
    assert rows == ["the new1 is new3", "the film is good"]
