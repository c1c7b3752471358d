"""A tokenizer that cuts at the start is obeyed: rows, pieces, what is explained, and what the user is told."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.models.transformers.tokens import Encoder
from assay.text.text import Text

TOKENIZERS = {
    "wordpiece": tiny.wordpiece,
    "byte_level": tiny.byte_level,
    "unigram_xlm": tiny.unigram_xlm,
    "unigram_albert": tiny.unigram_albert,
    "words": tiny.word_level,
}
WINDOW = 12
VOCABULARY = "a gripping funny film naïve 東京 don't dull, plot!".split()
words = st.lists(st.sampled_from(VOCABULARY), max_size=24).map(" ".join)


@cache
def tokenizer(name: str, side: str) -> Any:
    found = deepcopy(TOKENIZERS[name]())
    found.truncation_side = side
    return found


@cache
def encoder(name: str, side: str) -> Encoder:
    return Encoder(tokenizer(name, side), WINDOW)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", TOKENIZERS)
@settings(max_examples=25)
@given(one=words, two=words)
def test_rows_and_pieces_are_what_the_tokenizer_leaves(name: str, side: str, one: str, two: str) -> None:
    own = encoder(name, side)
    for row in ((one,), (one, two)):
        expected = deepcopy(tokenizer(name, side))(*([part] for part in row), truncation=True, max_length=WINDOW)
        expected = expected["input_ids"][0]
        assert own.rows([row])[0][0] == expected
        text = Text.of(row if len(row) == 2 else one)
        if all(row):
            assert own.pieces(text).ids == expected


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(max_examples=25)
@given(one=words, two=words)
def test_a_clipped_text_is_the_end_that_is_seen(name: str, one: str, two: str) -> None:
    """Whole words of the end, with the pieces that they have in the row: nothing else comes into the window."""
    own = encoder(name, "left")
    for row in ((one,), (one, two)):
        text = Text.of(row if len(row) == 2 else one)
        seen = own.clip(text)
        assert sum(len(own.offsets([field.string])[0]) for field in seen.fields) + own.template(len(row)).size <= WINDOW
        for whole, part in zip(text.fields, seen.fields, strict=True):
            assert whole.string.endswith(part.string)
            kept = [part.string[a:b] for a, b in part.spans]
            assert kept == [whole.string[a:b] for a, b in whole.spans][len(whole.spans) - len(kept) :]


def left(family: str = "bert") -> tuple[Any, Any]:
    model, found = tiny.FAMILIES[family]()
    found = deepcopy(found)
    found.truncation_side = "left"
    return model, found


LONG = "a gripping film " * 40 + "dull plot"


def test_predictions_are_those_of_the_end() -> None:
    model, found = left()
    inputs = deepcopy(found)(LONG, truncation=True, max_length=tiny.WINDOW, return_tensors="pt")
    with torch.no_grad():
        expected = model(**inputs).logits.softmax(-1).numpy()
    assert assay.load((model, found)).predict([LONG]) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("method", ["leave_one_out", "input_x_gradient"])
def test_the_end_is_explained_and_the_user_is_told(method: str) -> None:
    e = assay.explain(left(), LONG, method)
    assert e.words[-2:] == ("dull", "plot")
    assert np.count_nonzero(e.scores[-2:]) == 2
    assert LONG.endswith(e.strings[0])
    assert [e.strings[0][a:b] for a, b in e.spans] == list(e.words)
    assert any("saw only the end of the field 'text'" in warning for warning in e.warnings)
    again = assay.explain(left(), e.strings[0], method)
    assert again.scores == pytest.approx(e.scores, abs=1e-6)
    assert not any("truncated" in warning for warning in again.warnings)


def test_short_texts_are_as_before() -> None:
    e = assay.explain(left(), "a dull plot", "leave_one_out")
    assert (e.words, e.warnings) == (("a", "dull", "plot"), ())
