"""Resampling from left to right, as in LIME_BERT: against a slow loop with the masked language model itself."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.errors import Unanswerable
from assay.questions.answers import Fills
from assay.questions.erasers import Resample, each, eraser
from assay.questions.fill import Fill
from assay.text.text import Text
from assay.text.variants import Symbol, Variants

HOW = Resample("lm", "left_to_right")


def engine(family: str = "bert") -> Engine:
    lm = assay.load(tiny.masked_lm(family))
    return Engine(assay.load(tiny.bert()), resolve=lambda name: lm)


def run(conversation: Any, family: str = "bert") -> Any:
    return next(engine(family).run([conversation])).get()


def masks(words: int, rows: int, seed: int = 0) -> Any:
    keep = np.random.default_rng(seed).random((rows, words)) < 0.5
    keep[0], keep[1] = True, False
    return keep


def likeliest_whole_word(net: Any, tokenizer: Any, *strings: str) -> str:
    """For the first mask of a text, as the transformers library answers."""
    inputs = tokenizer(*strings, return_tensors="pt")
    at = inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    with torch.no_grad():
        order = net(**inputs).logits[0, at].argsort(descending=True).tolist()
    tokens = tokenizer.convert_ids_to_tokens(order)
    return next(t for t in tokens if not t.startswith(("##", "[")))


def slow(words: list[str], kept: Any, net: Any, tokenizer: Any) -> list[str]:
    """One hole after the other, the text written anew each time."""
    now = [word if k else "[MASK]" for word, k in zip(words, kept, strict=True)]
    for i in range(len(now)):
        if not kept[i]:
            now[i] = likeliest_whole_word(net, tokenizer, " ".join(now))
    return now


@pytest.mark.parametrize("family", ["bert", "bert_cased", "distilbert"])
def test_against_a_slow_loop(family: str) -> None:
    net, tokenizer = tiny.masked_lm(family)
    text = Text.of("a gripping film that never lets go of its audience")
    keep = masks(len(text), 12)
    variants = run(HOW.erase(text, keep), family)
    expected = [" ".join(slow(list(text.words), kept, net, tokenizer)) for kept in keep]
    assert [row for (row,) in variants.rows({})] == expected
    at_once = run(Resample("lm").erase(text, keep), family)
    assert at_once.rows({}) != variants.rows({})


def test_pairs_are_filled_field_after_field() -> None:
    net, tokenizer = tiny.masked_lm("bert")
    text = Text.of(("a man is playing", "nobody is playing music"))
    keep = masks(len(text), 6, seed=3)
    variants = run(HOW.erase(text, keep))
    for kept, row in zip(keep, variants.rows({}), strict=True):
        now = [word if k else "[MASK]" for word, k in zip(text.words, kept, strict=True)]
        for i in np.flatnonzero(~kept):
            now[i] = likeliest_whole_word(net, tokenizer, " ".join(now[:4]), " ".join(now[4:]))
        assert row == (" ".join(now[:4]), " ".join(now[4:]))


def fills(*words: str) -> list[Fills]:
    return [Fills(((word,),), np.full((1, 1), 0.5)) for word in words]


def test_one_round_for_each_hole_all_variants_together() -> None:
    text = Text.of("a fine film!")
    keep = np.array([[True, False, True, True], [False, False, True, False], [True] * 4])
    conversation = HOW.erase(text, keep)
    spoken = assay.load(tiny.masked_lm("bert"))
    first = next(conversation)
    assert isinstance(first, Fill)
    assert (first.model, first.k) == ("lm", 1)
    assert [(row.text.strings[0], row.keep) for row in first.rows(spoken)] == [
        ("a fine film!", (True, False, True, True)),
        ("a [MASK] film[MASK]", (False, True, True, True)),
    ]
    second = conversation.send(fills("bad", "the"))
    assert [(row.text.strings[0], row.keep) for row in second.rows(spoken)] == [
        ("the fine film[MASK]", (True, False, True, True))
    ]
    third = conversation.send(fills("fine"))
    assert [(row.text.strings[0], row.keep) for row in third.rows(spoken)] == [
        ("the fine film!", (True, True, True, False))
    ]
    with pytest.raises(StopIteration) as stop:
        conversation.send(fills("?"))
    assert stop.value.value.rows({}) == [("a bad film!",), ("the fine film?",), ("a fine film!",)]


def test_nothing_to_fill_asks_nothing() -> None:
    text = Text.of("a fine film")
    for keep in (np.ones((2, 3), bool), np.ones((0, 3), bool)):
        with pytest.raises(StopIteration) as stop:
            next(HOW.erase(text, keep))
        assert stop.value.value.rows({}) == [text.strings] * len(keep)


def test_a_single_hole_is_what_the_language_model_says_first() -> None:
    text = Text.of("a fine film")
    question = Fill(Variants(text, each(3)), model="lm", k=1)
    expected = [fill.words[0][0] for fill in engine().ask(question)]
    variants: Variants = run(HOW.erase(text, each(3)))
    assert isinstance(variants.fill, np.ndarray)
    assert np.diag(variants.fill).tolist() == expected


@pytest.mark.parametrize(
    ("how", "spelt"),
    [
        (Resample("mlm", "left_to_right"), "resample:mlm:left_to_right"),
        (Resample("some/model:x", "left_to_right"), "resample:some/model:x:left_to_right"),
        (Resample("left_to_right"), "resample:left_to_right:at_once"),
        (Resample("a:left_to_right"), "resample:a:left_to_right:at_once"),
        (Resample("at_once", "left_to_right"), "resample:at_once:left_to_right"),
        (Resample("a:at_once"), "resample:a:at_once:at_once"),
        (Resample(), "resample"),
        (Resample("a"), "resample:a"),
    ],
)
def test_the_order_goes_there_and_back(how: Resample, spelt: str) -> None:
    assert str(how) == spelt
    assert eraser(spelt) == how
    assert pickle.loads(pickle.dumps(how)) == how


def test_the_order_alone_means_the_bundled_model() -> None:
    assert eraser("resample:left_to_right") == Resample("mlm", "left_to_right")
    assert eraser("resample:mlm:at_once") == Resample()


def test_beyond_the_window_of_the_language_model() -> None:
    text = Text.of("film " * (2 * tiny.WINDOW))
    with pytest.raises(Unanswerable, match="'film' lies beyond the window"):
        run(HOW.erase(text, each(len(text))[-1:]))


def test_lime_bert() -> None:
    talk = engine()
    settings = {"samples": 40, "engine": talk, "seed": 1}
    told = assay.explain(talk.model, "a dull, funny film", "lime", eraser="resample:lm:left_to_right", **settings)
    assert told.about.parameters["eraser"] == "resample:lm:left_to_right"
    other = assay.explain(talk.model, "a dull, funny film", "lime", eraser="resample:lm", **settings)
    assert not np.allclose(told.scores, other.scores)
    again = assay.explain(talk.model, ["so it is", "a dull, funny film"], "lime", eraser=HOW, **settings)[1]
    assert again.scores == pytest.approx(told.scores, abs=1e-5)


def test_masks_are_spelt_as_the_language_model_spells_them() -> None:
    text = Text.of("a fine film")
    keep, words = np.zeros((1, 3), bool), np.full((1, 3), None, dtype=object)
    spoken = assay.load(tiny.masked_lm("roberta"))
    (row,) = Fill(Variants(text, keep, words), model="lm").rows(spoken)
    assert row.text.strings == (f"a {spoken.spelling[Symbol.MASK]} {spoken.spelling[Symbol.MASK]}",)
