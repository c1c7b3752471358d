"""Scores of any tokens come to the words that the tokens stand in, and none is lost in silence."""

from __future__ import annotations

import numpy as np
import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import BadInput
from assay.text.alignment import align
from assay.text.text import Text

TEXT = Text.of("The naïve café wasn't good, not good at all!")


def aligned(text: Text, tokens: list[str], scores: list[float]) -> list[float]:
    return align(text, tokens, np.array(scores)).scores.tolist()


def test_word_pieces_add_up_and_special_tokens_are_told() -> None:
    found = align(
        Text.of("unwatchable films"),
        ["[CLS]", "un", "##watch", "##able", "films", "[SEP]"],
        np.array([0.04, 1, 2, 4, 8, 0.01]),
    )
    assert found.scores.tolist() == [7, 8]
    assert found.lost == ("[CLS]", "[SEP]")
    assert found.lost_share == pytest.approx(0.05 / 15.05)


def test_case_accents_and_the_marks_of_tokenizers() -> None:
    tokens = ["▁the", "▁na", "ive", "▁cafe", "▁wasn", "'", "t", "▁good", ",", "▁not", "▁good", "▁at", "▁all", "!"]
    scores = [float(2**i) for i in range(len(tokens))]
    assert aligned(TEXT, tokens, scores) == [1, 2 + 4, 8, 16 + 32 + 64, 128, 256, 512, 1024, 2048, 4096, 8192]


def test_byte_level_tokens() -> None:
    tokenizer = tiny.byte_level()
    for string in ("naïve café", "東京 is big", "so good 🙂 again", "Übermäßig lange"):
        text, tokens = Text.of(string), tokenizer.tokenize(string)
        scores = np.random.default_rng(0).standard_normal(len(tokens))
        scores[[token == "Ġ" for token in tokens]] = 0  # a blank stands in no word
        wanted = np.zeros(len(text))
        offsets = tokenizer(string, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        for (start, end), score in zip(offsets, scores, strict=True):
            own = [w for w, (a, b) in enumerate(text.spans) if start < b and a < end]
            wanted[own] += score / max(1, len(own))
        np.testing.assert_allclose(align(text, tokens, scores).scores, wanted, atol=1e-12)


def test_a_token_over_two_words_is_split_evenly() -> None:
    assert aligned(Text.of("don't stop!"), ["don't", "stop!"], [1, 3]) == [1, 1.5, 1.5]


def test_words_left_out_have_no_score() -> None:
    assert aligned(Text.of("a gripping , funny film"), ["gripping", "film"], [2, 3]) == [0, 2, 0, 0, 3]


def test_a_bag_counts_for_all_places_and_says_so() -> None:
    found = align(Text.of("good , not good at all"), ["not", "good"], np.array([-1.0, 2.0]))
    assert found.scores.tolist() == [2, 0, -1, 2, 0, 0]
    assert found.shared == ("good",)


def test_the_same_words_in_order_are_no_bag() -> None:
    text = Text.of("good , not good")
    assert aligned(text, list(text.words), [1, 2, 3, 4]) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "tokens", [["a", "bad", "film"], ["fine", "a", "day"], ["x"], ["film", "fine", "a", "film", "fine"]]
)
def test_tokens_of_another_text_are_refused(tokens: list[str]) -> None:
    with pytest.raises(BadInput, match="do not fit the text"):
        align(Text.of("a fine film"), tokens, np.ones(len(tokens)))


def test_a_piece_that_is_missing_does_not_take_the_rest_along() -> None:
    """'is' is not a word here, though a later word holds its letters; the words between it must keep their scores."""
    tokens = ["a", "is", "fine", "film", "of", "this", "kind"]
    found = align(Text.of("a fine film of this kind"), tokens, np.array([1, 0.1, 2, 3, 4, 5, 6.0]))
    assert found.scores.tolist() == [1, 2, 3, 4, 5, 6]
    assert found.lost == ("is",)


def test_pairs_are_read_one_behind_the_other() -> None:
    text = Text.of(("a man sleeps", "a man"))
    assert aligned(text, ["[CLS]", "a", "man", "sleeps", "[SEP]", "a", "man", "[SEP]"], [0, 1, 2, 3, 0, 4, 5, 0]) == [
        1,
        2,
        3,
        4,
        5,
    ]


@given(st.lists(st.sampled_from([*"abcdé", "ß", "東", "don't", "x.y", "!", "🙂", "the"]), min_size=1, max_size=8))
def test_our_own_words_keep_their_scores(words: list[str]) -> None:
    text = Text.of(" ".join(words))
    if not len(text):
        return
    scores = np.arange(1.0, len(text) + 1)
    np.testing.assert_array_equal(align(text, text.words, scores).scores, scores)


@pytest.mark.parametrize("family", ["wordpiece", "unigram_xlm", "unigram_albert"])
@given(sentence=st.sampled_from(tiny.CORPUS), seed=st.integers(0, 99))
def test_pieces_of_real_tokenizers(family: str, sentence: str, seed: int) -> None:
    """Where no piece is unknown, all of the score arrives, and each word has what the tokenizer's offsets say."""
    tokenizer = getattr(tiny, family)()
    coded = tokenizer(sentence, add_special_tokens=False, return_offsets_mapping=True)
    tokens = tokenizer.convert_ids_to_tokens(coded["input_ids"])
    if tokenizer.unk_token in tokens:
        return
    text = Text.of(sentence)
    scores = np.random.default_rng(seed).standard_normal(len(tokens))
    scores[[token == "▁" for token in tokens]] = 0  # a blank stands in no word of the text
    wanted = np.zeros(len(text))
    for (start, end), score in zip(coded["offset_mapping"], scores, strict=True):
        own = [w for w, (a, b) in enumerate(text.spans) if start < b and a < end]
        wanted[own] += score / max(1, len(own))
    np.testing.assert_allclose(align(text, tokens, scores).scores, wanted, atol=1e-9)
