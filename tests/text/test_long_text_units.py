import pytest

from assay.text.text import Text
from assay.text.units import excerpt, in_parts, opened, sizes, word_places

REVIEW = "It begins well. The cast is fine, the songs are not! " * 8


def whole(parts: Text, text: Text) -> None:
    """Every word is in one part, in order, and no part is empty."""
    assert sum(sizes(parts, text)) == len(text)
    assert min(sizes(parts, text)) > 0
    assert word_places(parts, text, range(len(parts))) == list(range(len(text)))


def test_sentences_where_there_are_enough() -> None:
    text = Text.of(REVIEW)
    parts, name = in_parts(text)
    assert name == "sentences"
    assert parts.words[:2] == ("It begins well.", "The cast is fine, the songs are not!")
    whole(parts, text)


def test_phrases_where_sentences_are_few() -> None:
    text = Text.of("one two three, four five; " * 20)
    parts, name = in_parts(text)
    assert name == "phrases"
    assert parts.words[0] == "one two three,"
    whole(parts, text)


@pytest.mark.parametrize(
    "source",
    [
        "word " * 300,
        "好的电影。" * 90,
        "a. " * 500,
        ("long premise " * 80, "short"),
        "one, " + "two " * 130 + ". " * 30,
    ],
)
def test_any_text_has_a_few_dozen_parts(source: str) -> None:
    text = Text.of(source)
    parts, _ = in_parts(text)
    assert 12 <= len(parts) <= 41
    whole(parts, text)


def test_opened_parts_are_words_and_the_others_stay_whole() -> None:
    text = Text.of(REVIEW)
    parts, _ = in_parts(text)
    mixed, places = opened(parts, text, [0, 3])
    assert [mixed.words[i] for i in places][:4] == ["It", "begins", "well", "."]
    assert len(mixed) == len(parts) - 2 + len(places)
    assert mixed.strings == text.strings
    assert [text.words[i] for i in word_places(parts, text, [0, 3])] == [mixed.words[i] for i in places]


def test_an_excerpt_has_the_words_of_the_chosen_parts() -> None:
    text = Text.of(REVIEW)
    parts, _ = in_parts(text)
    some = excerpt(parts, [0, 1, 4], text)
    assert some.strings == ("It begins well. The cast is fine, the songs are not! … It begins well.",)
    assert list(some.words) == [text.words[i] for i in word_places(parts, text, [0, 1, 4])]


def test_an_excerpt_of_a_pair_leaves_out_the_text_without_chosen_parts() -> None:
    text = Text.of(("one two. " * 30, "three four."))
    parts, _ = in_parts(text)
    last = len(parts) - 1
    assert excerpt(parts, [last], text).words == ("three", "four", ".")
