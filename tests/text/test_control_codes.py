"""Control codes: the published examples, and what holds for any words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.chunks import chunks
from assay.text.control_codes import CODES, changed_places, detected_code
from assay.text.plain_words import plain_words, stem
from assay.text.text import Text

DOG = "A dog is embraced by the woman"
WORDS = st.sampled_from("the a dog cat sleeps runs big red on under roof quickly film good two many not".split())
SENTENCES = st.lists(WORDS, min_size=1, max_size=12)
CONTENT = st.sampled_from("dog cat roof film red green".split())


def code(old: str, new: str, old_tags: str = "", new_tags: str = "") -> str | None:
    tags = (dict(enumerate(side.split())) for side in (old_tags, new_tags))
    return detected_code(Text.of(old).words, Text.of(new).words, *tags)


@pytest.mark.parametrize(
    ("new", "wanted"),
    [
        ("A dog is not embraced by the woman", "negation"),
        ("Three dogs are embraced by the woman", "quantifier"),
        ("A woman is embraced by the dog", "shuffle"),
        ("A dog is attacked by the woman", "lexical"),
        ("A dog is wrapped in a blanket", "resemantic"),
        ("A dog is embraced by the little woman", "insert"),
        ("A dog is embraced", "delete"),
        ("A cat slept under many old roofs", None),
    ],
)
def test_the_examples_of_the_paper(new: str, wanted: str | None) -> None:
    assert code(DOG, new) == wanted


def test_parts_of_speech_decide_between_the_last_three() -> None:
    tags = "DET NOUN AUX VERB ADP DET NOUN"
    assert code(DOG, "A dog is hugging the woman", tags, "DET NOUN AUX VERB DET NOUN") == "restructure"
    assert code(DOG, "A dog is attacked by the woman", tags, tags) == "lexical"
    assert code(DOG, "A dog is big by the woman", tags, tags.replace("VERB", "ADJ")) == "restructure"
    assert code("he runs fast", "he runs home", "PRON VERB ADV", "PRON VERB NOUN") == "resemantic"


def test_a_sentence_whose_words_move_and_change_is_restructured() -> None:
    assert code("the woman hugs a dog in the park", "in the park a cat is seen by the woman") == "restructure"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("It isn't good.", "It's not good"),
        ("He can't swim", "he cannot swim ."),
        ("it does n't work", "It doesn’t work!"),
        ("Tom's here", "Tom is here"),
    ],
)
def test_the_same_written_in_another_way_is_no_edit(old: str, new: str) -> None:
    assert code(old, new) is None


@pytest.mark.parametrize(
    ("old", "new"), [("nobody came", "somebody came"), ("he has no dog", "he has a dog"), ("I never ran", "I ran")]
)
def test_negations_go_and_come(old: str, new: str) -> None:
    assert code(old, new) == code(new, old) == "negation"


def test_a_negation_in_a_sentence_that_says_something_else_is_no_negation() -> None:
    assert code("the film is a long and tender story", "the film is not worth your time or money") != "negation"


@given(SENTENCES)
def test_nothing_leads_to_itself(words: list[str]) -> None:
    assert detected_code(words, words) is None
    assert changed_places(words, words) == ([], [])


@given(SENTENCES, SENTENCES)
def test_a_code_is_one_of_the_eight_and_some_are_the_same_both_ways(old: list[str], new: list[str]) -> None:
    there, back = detected_code(old, new), detected_code(new, old)
    assert there is None or there in CODES
    for one, other in (("insert", "delete"), ("delete", "insert"), ("shuffle", "shuffle"), ("negation", "negation")):
        assert (there == one) == (back == other)
    assert (there == "quantifier") == (back == "quantifier")


@given(SENTENCES, st.randoms(use_true_random=False))
def test_words_in_another_order_are_shuffled(words: list[str], random: st.random_module) -> None:
    other = random.sample(words, len(words))  # type: ignore[attr-defined]
    assert detected_code(words, other) == (None if [*other] == words else "shuffle")


@given(st.lists(CONTENT, min_size=2, max_size=10), st.data())
def test_a_word_more_is_an_insert_and_a_not_a_negation(words: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(words)))
    assert detected_code(words, [*words[:at], "gripping", *words[at:]]) == "insert"
    assert detected_code(words, [*words[:at], "not", *words[at:]]) == "negation"
    assert detected_code(words, [*words[:at], "several", *words[at:]]) == "quantifier"


@given(SENTENCES, SENTENCES)
def test_places_are_those_of_words_that_changed(old: list[str], new: list[str]) -> None:
    gone, come = changed_places(old, new)
    kept = [word for i, word in enumerate(old) if i not in gone]
    assert kept == [word for i, word in enumerate(new) if i not in come]


@given(SENTENCES)
def test_chunks_cover_all_words_in_order(words: list[str]) -> None:
    assert [i for run in chunks(words) for i in run] == list(range(len(words)))
    assert all(run for run in chunks(words))


def test_chunks_end_before_words_of_grammar_and_at_signs() -> None:
    words = "a small dog is barking at the man , in vain .".split()
    shown = [" ".join(words[i] for i in run) for run in chunks(words)]
    assert shown == ["a small dog", "is barking", "at the man", ",", "in vain", "."]


def test_words_are_written_out_with_their_places() -> None:
    assert plain_words(["It", "isn't", ",", "he’ll"]) == [("it", 0), ("is", 1), ("not", 1), ("he", 3), ("will", 3)]


def test_stems_make_equals_of_what_agrees() -> None:
    assert stem("dogs") == stem("dog")
    assert stem("are") == stem("is") == stem("was")
    assert stem("ladies") == stem("lady")
    assert stem("glass") == "glass"
