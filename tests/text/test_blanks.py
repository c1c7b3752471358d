from __future__ import annotations

import numpy as np
import pytest

from assay.text.blanks import editor_answer, editor_prompt, read_fills, training_pair, training_pairs, with_blanks


def test_blanks_and_fills_make_up_the_sentence() -> None:
    for seed in range(20):
        prompt, answer = training_pair("a b c d e f g h", "positive", np.random.default_rng(seed))
        assert prompt.startswith("positive: ")
        assert prompt.endswith("\nfills:")
        shown = prompt.removeprefix("positive: ").removesuffix("\nfills:")
        for fill in answer.strip().split(" | "):
            shown = shown.replace("[BLANK]", fill, 1)
        assert shown == "a b c d e f g h"


def test_the_other_text_of_a_pair_stands_on_its_own_side() -> None:
    assert editor_prompt("neutral", "a man [BLANK]", ("a man\nposes .", None)) == (
        "neutral: a man poses . | a man [BLANK]\nfills:"
    )
    assert editor_prompt("neutral", "a man [BLANK]", (None, "he sleeps")) == (
        "neutral: a man [BLANK] | he sleeps\nfills:"
    )
    assert editor_prompt("positive", "a [BLANK]") == "positive: a [BLANK]\nfills:"


def test_what_is_hidden_side_by_side_is_one_blank() -> None:
    shown, fills = with_blanks("a very funny film indeed".split(), [False, True, True, False, True])
    assert shown == ["a", "[BLANK]", "film", "[BLANK]"]
    assert fills == [["very", "funny"], ["indeed"]]


def test_texts_too_short_to_hide_a_part_of_them_are_not_learned_from() -> None:
    assert len(training_pairs([("one two three four", "x"), ("one two three four five", "x")], 0)) == 1


def test_fills_are_read_as_they_are_written() -> None:
    assert read_fills(editor_answer(["not at all", "dull"]), 2) == ["not at all", "dull"]


@pytest.mark.parametrize("written", [" one", " one | two | three", " one | ", " | ", "", " a [BLANK] | b"])
def test_malformed_fills_are_no_fills(written: str) -> None:
    assert read_fills(written, 2) is None
