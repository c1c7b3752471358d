"""Text: nothing of the string is lost, words are exact, and taking words away does not depend on the order."""

from __future__ import annotations

import pickle
import subprocess
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import BadInput, BadText, EmptyText, UnknownName
from assay.text.splitting import SPLITTERS
from assay.text.text import Field, Text
from assay.text.variants import Symbol, Variants

HARD = (
    *("👩‍👩‍👧‍👦 a family", "🏳️‍🌈", "🇩🇪🇫🇷 two flags", "👍🏽👍🏿", "\U0001f468\u200d"),
    *("שלום עולם", "مرحبا بالعالم", "\u200f\u200e", "\u0600\u0661", "ܐ\u070f"),
    *(
        "e\u0301a\u0308\u0323",
        "zero\u200bwidth\u200d",
        "\ufeffbom",
        "a\u00a0b\u3000c",
        "line\r\nbreak\ttab",
        "a\x1fb\x00c",
    ),
    *("don't they’re 'quoted'", "नमस्ते दुनिया", "ᄀᄋ한국어", "ภาษาไทย", "İstanbul ß ﬁ ﷽", "1,000.5 %", "\u0d4e \u0d4ea"),
)

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=24)
hard = st.lists(st.one_of(st.sampled_from(HARD), st.sampled_from([" ", "  ", ".", "a", "\n"]), anything), max_size=4)
strings = st.one_of(anything, hard.map("".join))
ENGLISH = ["a", "film", "don't", "!", "東", " ", "  ", "\t ", ",", "\u200b"]
prose = st.lists(st.sampled_from(ENGLISH), max_size=12).map("".join)


def rebuilt(field: Field) -> str:
    parts = [part for pair in zip(field.gaps, field.words, strict=False) for part in pair]
    return "".join([*parts, field.gaps[-1]])


@settings(max_examples=4_000)
@given(strings)
def test_gaps_and_words_rebuild_any_string(string: str) -> None:
    (field,) = Text.of(string).fields
    assert rebuilt(field) == string
    assert [string[a:b] for a, b in field.spans] == list(field.words)
    assert not any(any(c.isspace() for c in word) or not word for word in field.words)
    edges = [edge for span in field.spans for edge in span]
    assert edges == sorted(edges)


@given(strings, st.sampled_from(sorted(SPLITTERS)))
def test_every_splitter_rebuilds_the_string(string: str, split: str) -> None:
    (field,) = Text.of(string, split=split).fields
    assert rebuilt(field) == string
    assert all(word.strip() for word in field.words)


@given(strings)
def test_what_lies_in_the_gaps_is_not_visible(string: str) -> None:
    """No letter, digit, mark of punctuation or emoji is outside all words."""
    (field,) = Text.of(string).fields
    outside = {unicodedata.category(c)[0] for gap in field.gaps for c in gap if not c.isspace()}
    assert outside <= {"C", "Z"}


@pytest.mark.parametrize(
    ("string", "words"),
    [
        ("don't panic!", ["don't", "panic", "!"]),
        ("they’re here.", ["they’re", "here", "."]),
        ("'quoted'", ["'", "quoted", "'"]),
        ("a_b x1 3.14", ["a_b", "x1", "3", ".", "14"]),
        ("naïve cafe\u0301", ["naïve", "cafe\u0301"]),
        ("東京タワー", ["東", "京", "タワー"]),
        ("👩‍👩‍👧‍👦🇩🇪👍🏽", ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽"]),
        ("a\u200bb", ["a", "b"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("नमस्ते", ["नमस्ते"]),
        ("\u200f \x00", []),
        ("", []),
    ],
)
def test_words(string: str, words: list[str]) -> None:
    assert list(Text.of(string).words) == words


def test_whitespace_and_sentences() -> None:
    string = 'He said "no." She left!  Why? 好。是。'
    assert Text.of(string, split="whitespace").words == tuple(string.split())
    assert Text.of(string, split="sentences").words == ('He said "no."', "She left!", "Why?", "好。", "是。")


@pytest.mark.parametrize("string", ["One.  Two  ", "One. Two\n\n", " One.\nTwo\n "])
def test_sentences_hold_no_white_space_at_their_ends(string: str) -> None:
    assert Text.of(string, split="sentences").words == ("One.", "Two")


def masks(n: int) -> st.SearchStrategy[list[bool]]:
    return st.lists(st.booleans(), min_size=n, max_size=n)


@given(strings, st.sampled_from(sorted(SPLITTERS)))
def test_keeping_all_changes_nothing(string: str, split: str) -> None:
    text = Text.of((string, string), split=split)
    assert text.keep([True] * len(text)) == text


@given(prose | strings, st.data())
def test_the_order_of_removals_does_not_matter(string: str, data: st.DataObject) -> None:
    text = Text.of(string)
    keep = data.draw(masks(len(text)))
    order = data.draw(st.permutations([i for i, kept in enumerate(keep) if not kept]))
    step, left = text, list(range(len(text)))
    for i in order:
        step = step.without(left.index(i))
        left.remove(i)
    assert step == text.keep(keep)
    assert step.words == tuple(word for word, kept in zip(text.words, keep, strict=True) if kept)


@pytest.mark.parametrize(
    ("string", "gone", "result"),
    [
        ("a fine film", 1, "a film"),
        ("a fine film", 0, "fine film"),
        ("a fine film", 2, "a fine"),
        ("good film!", 2, "good film"),
        ("well-known fact", 1, "wellknown fact"),
        ("film! yes", 1, "film yes"),
        ("a\u200bb c", 1, "a c"),
        ("a\u200bb-c", 1, "a\u200b-c"),
        ("  a  b\tc ", 1, "  a  c "),
        ("no (really)", 2, "no ()"),
        ("one", 0, ""),
    ],
)
def test_one_gap_goes_with_the_word(string: str, gone: int, result: str) -> None:
    assert Text.of(string).without(gone).strings == (result,)


@given(prose, st.data())
def test_new_words_have_exact_spans(string: str, data: st.DataObject) -> None:
    text = Text.of((string, string))
    new = data.draw(
        st.lists(st.none() | st.sampled_from(["x", "two words", "", "[MASK]"]), min_size=len(text), max_size=len(text))
    )
    changed = text.with_words(new)
    assert list(changed.words) == [word for word in new if word is not None]
    assert all(rebuilt(field) == field.string for field in changed.fields)
    assert changed.strings == text.row(new)


def test_replace() -> None:
    text = Text.of("a fine  film!")
    assert text.replace(1, "bad").strings == ("a bad  film!",)
    assert text.replace(1, "very bad").words == ("a", "very bad", "film", "!")
    assert text.strings == ("a fine  film!",)


@pytest.mark.parametrize("change", [lambda t: t.without(9), lambda t: t.with_words(["x"]), lambda t: t.keep([True])])
def test_a_wrong_number_of_words_is_refused(change: Any) -> None:
    with pytest.raises((BadInput, ValueError, IndexError)):
        change(Text.of("a b c"))


@pytest.mark.parametrize("bad", ["a\ud800b", "\udfff", ("fine", "\udc00")])
def test_lone_surrogates_are_refused(bad: Any) -> None:
    with pytest.raises(BadText, match="lone surrogate at character"):
        Text.of(bad)


@pytest.mark.parametrize("bad", [3, None, ("a", 3), ("a", "b", "c"), {"text": b"bytes"}, ["one"]])
def test_what_is_no_text_is_refused(bad: Any) -> None:
    with pytest.raises(BadText):
        Text.of(bad)


def test_pairs() -> None:
    text = Text.of(("a man sleeps", "a man"))
    assert text.words == ("a", "man", "sleeps", "a", "man")
    assert text.where == ("premise",) * 3 + ("hypothesis",) * 2
    assert text.spans == ((0, 1), (2, 5), (6, 12), (0, 1), (2, 5))
    assert text.without(3).strings == ("a man sleeps", "man")
    assert Text.of(("q", "p"), names=("question", "passage")).where == ("question", "passage")
    assert Text.of({"title": "a", "body": "b c"}).where == ("title", "body", "body")


def test_focus_leaves_the_other_field_as_it_is() -> None:
    text = Text.of(("a  man sleeps", "a man"), focus=["hypothesis"])
    assert text.words == ("a", "man")
    assert text.keep([False, False]).strings == ("a  man sleeps", "")
    assert text.replace(1, "dog").strings == ("a  man sleeps", "a dog")
    assert Text.of(text, focus="premise").words == ("a", "man", "sleeps")
    with pytest.raises(UnknownName, match="did you mean 'hypothesis'"):
        Text.of(("a", "b"), focus=["hypotesis"])


def halves(string: str) -> Sequence[tuple[int, int]]:
    return [(0, len(string) // 2), (len(string) // 2, len(string))]


def test_a_splitter_of_ones_own() -> None:
    assert Text.of("abcdef", split=halves).words == ("abc", "def")
    lists = Text.of("a b", split=lambda string: [[0, 1], [2, 3]])  # type: ignore[arg-type, return-value]
    assert lists == Text.of("a b")
    assert hash(lists) == hash(Text.of("a b"))


@pytest.mark.parametrize("spans", [[(2, 3), (0, 1)], [(0, 2), (1, 3)], [(0, 9)], [(-1, 2)], [(2, 1)]])
def test_a_splitter_that_is_wrong_is_refused(spans: list[tuple[int, int]]) -> None:
    with pytest.raises(BadInput, match="splitter"):
        Text.of("abc", split=lambda string: spans)


def test_unknown_splitter() -> None:
    with pytest.raises(UnknownName, match="did you mean 'words'"):
        Text.of("a", split="word")


def test_a_text_without_words_is_named() -> None:
    for empty in ("", "  \n", "\u200b", ("", "")):
        with pytest.raises(EmptyText):
            Text.of(empty).require_words()


def test_texts_compare_hash_and_pickle() -> None:
    one, two = Text.of("a film"), Text.of("a film")
    assert one.words  # a cached property must not change what is compared
    assert one == two
    assert hash(one) == hash(two)
    assert pickle.loads(pickle.dumps(one)) == two
    assert one != Text.of("a film", split="sentences")
    assert one.seed == two.seed != Text.of("a film ").seed


SPELLING = {Symbol.MASK: "[MASK]", Symbol.UNKNOWN: "[UNK]", Symbol.PAD: "[PAD]"}


@given(prose | strings, st.data())
def test_variants_are_what_the_slow_way_gives(string: str, data: st.DataObject) -> None:
    focus = data.draw(st.sampled_from([None, ["premise"], ["hypothesis"]]))
    text = data.draw(st.sampled_from([Text.of(string), Text.of((string, "a fine film"), focus=focus)]))
    drawn = data.draw(st.lists(masks(len(text)), min_size=1, max_size=4))
    keep = np.array(drawn, dtype=bool).reshape(len(drawn), len(text))
    words = np.full(keep.shape, "w", dtype=object)
    for fill in (None, Symbol.MASK, Symbol.UNKNOWN, Symbol.PAD, "___", words):
        stands = SPELLING[fill] if isinstance(fill, Symbol) else "w" if isinstance(fill, np.ndarray) else fill
        slow = [text.with_words([w if k else stands for w, k in zip(text.words, row, strict=True)]) for row in keep]
        assert Variants(text, keep, fill).rows(SPELLING) == [version.strings for version in slow]


@given(st.lists(st.sampled_from(["a ", "film ", "very", "'", ", ", ".", "it"]), min_size=1, max_size=9), st.data())
def test_variants_of_texts_with_one_blank_or_none_between_words(parts: list[str], data: st.DataObject) -> None:
    lead, tail = (data.draw(st.sampled_from(["", " ", "  ", "\n"])) for _ in range(2))
    text = Text.of(lead + "".join(parts).strip() + tail)
    keep = np.array([data.draw(masks(len(text)))])
    assert Variants(text, keep).rows({}) == [text.keep(keep[0]).strings]


def test_no_variants_are_no_rows() -> None:
    for text in (Text.of("a film"), Text.of("it's a film."), Text.of("a  film")):
        for fill in (None, "x"):
            assert Variants(text, np.zeros((0, len(text)), dtype=bool), fill).rows({}) == []


def test_hashes_agree_across_processes() -> None:
    code = "from assay import Text; print(hash(Text.of('a film')))"
    command = [sys.executable, "-c", code]
    printed = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert int(printed[0]) == int(printed[1]) == hash(Text.of("a film"))
