"""Blanks for an edit of a kind: prompts in both grammars, fills, training pairs, and where blanks are put."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.blank_places import FILLED, drawn_blanks, removals, swaps
from assay.text.coded_blanks import (
    Blank,
    apart,
    changed_stretches,
    coded_answer,
    coded_prompt,
    coded_training_pair,
    differing,
    read_coded_fills,
    with_coded_blanks,
    with_fills,
)
from assay.text.control_codes import CODES
from assay.text.text import Text

KIDS = Text.of("It is great for kids.")
SENTENCES = st.lists(st.sampled_from("the a dog cat is runs big red on not two . ,".split()), min_size=1, max_size=12)


def test_prompts_are_those_of_the_paper_and_ours() -> None:
    shown = with_coded_blanks(KIDS, [Blank(2, 2), Blank(4, 5)])
    assert shown == "It is [BLANK] great for [BLANK]."
    assert coded_prompt("It is great\nfor kids.", "negation", shown, "polyjuice") == (
        "It is great for kids. <|perturb|> [negation] It is [BLANK] great for [BLANK]. [SEP]"
    )
    assert coded_prompt("It is great\nfor kids.", "negation", shown) == (
        "It is great for kids.\nnegation: It is [BLANK] great for [BLANK].\nfills:"
    )


@pytest.mark.parametrize(
    ("written", "blanks", "fills"),
    [
        (" not [ANSWER] children [ANSWER]", 2, ["not", "children"]),
        (" not [ANSWER] children", 2, ["not", "children"]),
        (" [EMPTY] [ANSWER]", 1, [""]),
        (" not [ANSWER] children [ANSWER]", 1, None),
        (" not", 2, None),
        (" [ANSWER]", 1, None),
    ],
)
def test_fills_in_the_published_grammar(written: str, blanks: int, fills: list[str] | None) -> None:
    assert read_coded_fills(written, blanks, "polyjuice") == fills


def test_fills_in_our_grammar_are_read_as_they_are_written() -> None:
    assert read_coded_fills(coded_answer(["not at all", ""]), 2) == ["not at all", ""]
    assert read_coded_fills(" one | two", 1) is None


def test_fills_stand_where_the_words_stood_and_blanks_go_with_them() -> None:
    assert with_fills(KIDS, [Blank(2, 2), Blank(4, 5)], ["not", "children"]) == "It is not great for children."
    assert with_fills(KIDS, [Blank(2, 5)], [""]) == "It is."
    assert with_fills(KIDS, [Blank(0, 1)], [""]) == "is great for kids."
    assert with_fills(KIDS, [Blank(6, 6)], ["Yes."]) == "It is great for kids. Yes."
    assert with_fills(KIDS, [Blank(2, 2)], [""]) == str(KIDS)


@given(SENTENCES, SENTENCES, st.integers(0, 5))
def test_a_training_pair_leads_to_the_second_sentence(old: list[str], new: list[str], seed: int) -> None:
    made = coded_training_pair(" ".join(old), " ".join(new), "lexical", np.random.default_rng(seed))
    if made is None:
        return
    prompt, answer = made
    first, second, last = prompt.split("\n")
    assert first == " ".join(old)
    assert last == "fills:"
    shown = second.removeprefix("lexical: ")
    fills = read_coded_fills(answer, shown.count("[BLANK]"))
    assert fills is not None
    for fill in fills:
        shown = shown.replace("[BLANK]", fill, 1)
    assert shown.split() == new


def test_what_differs_is_hidden_and_nothing_else() -> None:
    assert differing("a b c d".split(), "a x y c".split()) == [Blank(1, 3), Blank(4, 4)]
    assert apart([Blank(0, 1), Blank(2, 3), Blank(6, 7)]) == [Blank(0, 3), Blank(6, 7)]


def test_the_stretch_that_changed_has_a_word_beside_it() -> None:
    old, new = Text.of("a very dull and slow film ."), Text.of("a very fine film .")
    assert changed_stretches(old, new) == ("very dull and slow film", "very fine film")
    assert changed_stretches(old, new, beside=0) == ("dull and slow", "fine")
    assert changed_stretches(Text.of("dull"), Text.of("so dull")) == ("dull", "so dull")


@given(SENTENCES, st.sampled_from(sorted(FILLED)), st.integers(0, 9))
def test_blanks_lie_in_the_sentence_and_apart(words: list[str], code: str, seed: int) -> None:
    blanks = drawn_blanks(words, code, np.random.default_rng(seed))
    assert len(blanks) <= 2
    assert all(0 <= blank.start <= blank.end <= len(words) for blank in blanks)
    assert all(one.end + 1 < two.start for one, two in pairwise(blanks))
    if code == "lexical":
        assert all(blank.end - blank.start in (1, 2, 3) for blank in blanks)  # two that are near each other are one
    if code == "insert":
        assert all(blank.end - blank.start in (0, 1) for blank in blanks)


def test_a_negation_is_sought_at_the_auxiliary() -> None:
    words = "the film is good".split()
    drawn = {drawn_blanks(words, "negation", np.random.default_rng(seed)) for seed in range(40)}
    assert drawn == {(Blank(2, 3),), (Blank(3, 3),), (Blank(2, 4),)}


def test_kinds_of_blanks_have_the_published_shares() -> None:
    words = "dogs bark".split()
    drawn = [drawn_blanks(words, "negation", np.random.default_rng(seed)) for seed in range(4000)]
    sizes = np.array([one[0].end - one[0].start for one in drawn if len(one) == 1])
    assert np.mean(sizes == 0) > 0.1  # two draws may join, so the shares are those of single ones only roughly
    single = [_first(seed) for seed in range(3000)]
    shares = [single.count(size) / len(single) for size in (1, 2, 0)]
    assert shares == pytest.approx([0.4, 0.35, 0.25], abs=0.03)


def _first(seed: int) -> int:
    from assay.text.blank_places import _drawn

    blank = _drawn("big dogs".split(), 1, "negation", np.random.default_rng(seed))
    return blank.end - blank.start


@given(SENTENCES)
def test_what_goes_is_never_everything_and_what_is_swapped_differs(words: list[str]) -> None:
    assert all(any(map(str.isalnum, "".join(words[:a] + words[b:]))) for a, b in removals(words))
    for one, two in swaps(words):
        assert one.end <= two.start
        assert words[one.start : one.end] != words[two.start : two.end]


def test_every_code_is_written_or_made_by_a_rule() -> None:
    assert set(CODES) - set(FILLED) == {"delete", "shuffle"}
