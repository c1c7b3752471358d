"""A tokenizer that cuts at the start is obeyed: rows, pieces, what is explained, and what the user is told."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
import tiny
import torch
import transformers as hf
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


def cut_left(pair: Any) -> Any:
    model, found = pair
    found = deepcopy(found)
    found.truncation_side = "left"
    return model, found


def seen_by(pair: Any, *strings: str) -> Any:
    """A text that was cut at a word, as the tokenizer codes it; nothing more is cut."""
    inputs = pair[1](*strings, return_tensors="pt")
    assert tiny.WINDOW - 3 < inputs["input_ids"].shape[1] <= tiny.WINDOW
    return inputs


def test_a_hole_at_the_end_is_filled_behind_the_end_of_the_text() -> None:
    pair = cut_left(tiny.masked_lm())
    model, found = pair
    masked = "a gripping film " * 40 + f"is a {found.mask_token}"
    e = assay.explain(assay.load(pair), (masked, "film"), "leave_one_out")
    seen = "".join(e.strings[:3])
    assert masked.endswith(seen)
    inputs = seen_by(pair, seen)
    with torch.no_grad():
        chances = model(**inputs).logits[0].softmax(-1)
    at = (inputs["input_ids"][0] == found.mask_token_id).nonzero()[0, 0]
    (token,) = found("film", add_special_tokens=False)["input_ids"]
    assert e.prediction["film"] == pytest.approx(chances[at, token].item(), abs=1e-6)
    assert any("saw only the end of the field" in warning for warning in e.warnings)


def test_a_word_at_the_end_is_tagged_as_the_end_of_the_text() -> None:
    pair = cut_left(tiny.token_tagger())
    e = assay.explain(assay.load(pair), (LONG, "plot"), "leave_one_out")
    seen = "".join(e.strings[:3])
    assert LONG.endswith(seen)
    inputs = seen_by(pair, seen)
    with torch.no_grad():
        chances = pair[0](**inputs).logits[0].softmax(-1)
    at = inputs.char_to_token(seen.index("plot"))
    assert e.prediction[e.label] == pytest.approx(chances[at].max().item(), abs=1e-6)
    assert any("saw only the end of the field" in warning for warning in e.warnings)


def test_an_answer_at_the_end_is_read_off_the_end_of_the_context() -> None:
    config = deepcopy(tiny.bert()[0].config)
    config.num_labels = 2
    pair = cut_left((tiny.seeded(lambda: hf.BertForQuestionAnswering(config)), tiny.wordpiece()))
    asked = {"question": "who ran ?", "context": LONG, "answer": "plot"}
    e = assay.explain(assay.load(pair), asked, "leave_one_out")
    question, context, *_ = e.strings
    assert (question, LONG.endswith(context)) == ("who ran ?", True)
    inputs = seen_by(pair, question, context)
    with torch.no_grad():
        output = pair[0](**inputs)
    pieces = [i for i, owner in enumerate(inputs.sequence_ids()) if owner == 1]
    starts, ends = (logits[0, pieces].softmax(-1) for logits in (output.start_logits, output.end_logits))
    first, last = (pieces.index(inputs.char_to_token(context.index("plot") + i, sequence_index=1)) for i in (0, 3))
    assert e.prediction[e.label] == pytest.approx((starts[first] * ends[last]).item(), abs=1e-6)
    assert any("saw only the end of the field 'context'" in warning for warning in e.warnings)
