"""Erasers: what each puts in the place of a word, their names, and what happens where a model lacks the token."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.engine.engine import Engine
from assay.errors import AssayError, BadInput, Unanswerable, UnknownName
from assay.questions.answers import Fills
from assay.questions.erasers import ERASERS, Delete, Eraser, Mask, Pad, Resample, Unknown, cumulative, each, eraser
from assay.questions.fill import Fill
from assay.questions.predict import Predict
from assay.text.text import Text
from assay.text.variants import Symbol, Variants

SPELLING = {Symbol.MASK: "[MASK]", Symbol.UNKNOWN: "[UNK]", Symbol.PAD: "[PAD]"}
TEXT = Text.of("a fine film!")


def erased(how: Eraser, keep: list[list[bool]], text: Text = TEXT) -> list[tuple[str, ...]]:
    """What an eraser that needs no model makes of a text."""
    conversation = how.erase(text, np.array(keep))
    with pytest.raises(StopIteration) as stop:
        next(conversation)
    return list(stop.value.value.rows(SPELLING))


@pytest.mark.parametrize(
    ("how", "second", "all_of_it"),
    [
        (Delete(), "a film!", ""),
        (Unknown(), "a [UNK] film!", "[UNK] [UNK] [UNK][UNK]"),
        (Mask(), "a [MASK] film!", "[MASK] [MASK] [MASK][MASK]"),
        (Pad(), "a [PAD] film!", "[PAD] [PAD] [PAD][PAD]"),
        (Mask("___"), "a ___ film!", "___ ___ ______"),
        (Unknown("thing"), "a thing film!", "thing thing thingthing"),
    ],
)
def test_what_stands_for_a_word(how: Eraser, second: str, all_of_it: str) -> None:
    keep = [[True] * 4, [True, False, True, True], [False] * 4]
    assert erased(how, keep) == [("a fine film!",), (second,), (all_of_it,)]


@pytest.mark.parametrize(
    "how",
    [Delete(), Unknown(), Mask(), Pad(), Resample(), Mask("___"), Pad("a:b"), Unknown("x"), Resample("some/model:x")],
)
def test_names_go_there_and_back(how: Eraser) -> None:
    assert eraser(str(how)) == how
    assert eraser(how) is how
    assert pickle.loads(pickle.dumps(how)) == how


def test_every_eraser_has_a_name() -> None:
    assert {name: str(cls()) for name, cls in ERASERS.items()} == {name: name for name in ERASERS}


def test_unknown_names() -> None:
    with pytest.raises(UnknownName, match="did you mean 'delete'"):
        eraser("delet")
    with pytest.raises(UnknownName, match="there are: delete, mask, pad, resample, unknown"):
        eraser("")
    with pytest.raises(BadInput):
        eraser("delete:word")


def test_a_missing_token_says_what_works() -> None:
    decoder, black_box = assay.load(tiny.gpt2()), assay.load(lambda texts: [[0.5, 0.5]] * len(texts))
    with pytest.raises(
        Unanswerable, match=r"no mask token; erase by delete, unknown, pad, or give a token: mask:TOKEN"
    ):
        assay.explain(decoder, "a fine film", "leave_one_out", eraser="mask")
    for name in ("mask", "unknown", "pad"):
        with pytest.raises(Unanswerable, match=f"no {name} token; erase by delete, or"):
            assay.explain(black_box, "a fine film", "leave_one_out", eraser=name)
    assert assay.explain(black_box, "a fine film", "leave_one_out", eraser="mask:_").scores.tolist() == [0, 0, 0]


def fills(*words: tuple[str, ...]) -> Fills:
    return Fills(words, np.full((len(words), 2), 0.1))


def test_resample_by_hand() -> None:
    keep = np.array([[True, False, True, True], [False, False, True, True], [True] * 4])
    conversation = Resample("some").erase(TEXT, keep)
    question = next(conversation)
    assert isinstance(question, Fill)
    assert question.model == "some"
    assert (question.variants.keep == keep).all()
    with pytest.raises(StopIteration) as stop:
        conversation.send([fills(("fine", "bad")), fills(("the", "A"), ("good", "fine")), fills()])
    rows = stop.value.value.rows({})
    assert rows == [("a bad film!",), ("the good film!",), ("a fine film!",)]


@pytest.mark.parametrize(("word", "same"), [("The", "the"), ("the", "The"), ("THE", "The"), ("the", "the")])
def test_resample_never_puts_the_word_back_in_other_letters(word: str, same: str) -> None:
    conversation = Resample().erase(Text.of(f"{word} film"), np.array([[False, True]]))
    next(conversation)
    with pytest.raises(StopIteration) as stop:
        conversation.send([fills((same, "a"))])
    assert stop.value.value.rows({}) == [("a film",)]


def test_resample_when_all_candidates_are_the_word_itself() -> None:
    """Cased vocabularies hold "The", "the" and "THE": that must not end the run."""
    conversation = Resample().erase(Text.of("the film"), np.array([[False, True]]))
    next(conversation)
    with pytest.raises((StopIteration, AssayError)):
        conversation.send([fills(("The", "the"))])


def with_lm(family: str = "bert") -> Engine:
    lm = assay.load(tiny.masked_lm(family))
    return Engine(assay.load(tiny.bert()), resolve=lambda name: lm)


def run(engine: Engine, conversation: Any) -> Any:
    return next(engine.run([conversation])).get()


@pytest.mark.parametrize("family", ["bert", "bert_cased", "roberta", "distilbert"])
def test_resample_with_a_masked_language_model(family: str) -> None:
    text = Text.of("a very funny film, isn't it?")
    keep = np.vstack([each(len(text)), np.zeros((1, len(text)), bool)])
    variants: Variants = run(with_lm(family), Resample("lm").erase(text, keep))
    assert isinstance(variants.fill, np.ndarray)
    for kept, new in zip(keep, variants.fill, strict=True):
        for word, is_kept, other in zip(text.words, kept, new, strict=True):
            assert is_kept or (other and other.lower() != word.lower())
    assert len(set(variants.rows({}))) == len(keep)


def test_resample_of_a_text_from_which_nothing_is_taken() -> None:
    variants: Variants = run(with_lm(), Resample("lm").erase(TEXT, np.ones((1, 4), bool)))
    assert variants.rows({}) == [TEXT.strings]


def test_resample_beyond_the_window_of_the_language_model() -> None:
    """An error with a name or an answer, never a KeyError: the classifier may see more than the language model."""
    text = Text.of("film " * (2 * tiny.WINDOW))
    try:
        variants = run(with_lm(), Resample("lm").erase(text, each(len(text))[-1:]))
    except AssayError:
        return
    assert len(variants.rows({})) == 1


@pytest.mark.parametrize("how", ["delete", "unknown", "mask", "pad", "resample:lm"])
def test_leave_one_out_by_every_eraser_is_the_slow_difference(how: str) -> None:
    engine = with_lm()
    text = Text.of("a dull, funny film")
    variants = run(engine, eraser(how).erase(text, each(len(text))))
    told = assay.explain(engine.model, text, "leave_one_out", eraser=how, engine=engine)
    values = [
        engine.ask(Predict(Text.of(row[0]))).value(told.target)[0] for row in variants.rows(engine.model.spelling)
    ]
    whole = engine.ask(Predict(text)).value(told.target)[0]
    assert told.scores == pytest.approx(whole - np.array(values), abs=1e-5)


@given(st.integers(0, 9))
def test_each_leaves_out_one(n: int) -> None:
    assert each(n).shape == (n, n)
    assert [np.flatnonzero(~row).tolist() for row in each(n)] == [[i] for i in range(n)]


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.integers(0, n))))
def test_cumulative_leaves_out_the_first_of_the_ranking(given_: tuple[list[int], int]) -> None:
    ranking, upto = given_
    keep = cumulative(ranking, upto)
    assert keep.shape == (upto + 1, len(ranking))
    assert [set(np.flatnonzero(~row)) for row in keep] == [set(ranking[:i]) for i in range(upto + 1)]
