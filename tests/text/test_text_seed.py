"""The seed of a text: from all its strings, and from where one ends and the next begins."""

from __future__ import annotations

from assay.text.text import Text


def test_where_a_string_ends_is_part_of_the_seed() -> None:
    pairs = [("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc")]
    texts = [Text.of(pair) for pair in pairs] + [Text.of("abc")]
    assert len({text.seed for text in texts}) == 5
    assert len({hash(text) for text in texts}) == 5


def test_the_seed_is_the_same_in_every_process_and_for_every_focus() -> None:
    text = Text.of(("a film", "a good film"))
    assert text.seed == Text.of(text, focus=["hypothesis"]).seed
    assert Text.of("a film").seed == 3174058153011390966
