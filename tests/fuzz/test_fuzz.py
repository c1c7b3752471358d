"""A slice of the campaign of hostile texts that `make fuzz` leads at length."""

from __future__ import annotations

import random

from fuzz.campaign import FAMILIES, METHODS, campaign
from fuzz.hostile_texts import hostile

# Methods that take a training set, or another model beside the one that is explained.
NEWER = ("hotflip", "mice", "sea", "cage", "self_rationale", "influence_functions", "tracin", "representer_points")


def test_the_texts_hold_what_they_promise() -> None:
    texts = [hostile(random.Random(i)) for i in range(3000)]
    whole = "".join(texts)
    for sign in ("<script>", "[MASK]", "\u202e", "\x1b", "\x9b", "\u200d", "a" * 10_000, "\u05d0", "\U0001e900"):
        assert sign in whole
    assert any(not text.strip() for text in texts)
    assert any("\ud800" <= sign <= "\udfff" for sign in whole)


def test_hostile_texts_are_explained_or_refused() -> None:
    names = ["bert", "roberta", "xlm_roberta", "deberta", "gpt2", "causal_lm"]
    tally = campaign(names, count=60)
    newer = campaign(names, seed=1, count=30, methods=NEWER)
    assert newer.findings == []
    assert newer.outcomes["explained"] > 5
    assert tally.findings == []
    assert tally.outcomes["explained"] > 10
    assert tally.outcomes["refused"] > 10
    assert len(METHODS) > 15
    assert set(FAMILIES) >= {"bert", "causal_lm"}
