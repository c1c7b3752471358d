"""Requests for every check of texts, and when two verdicts are the same: for the tests of the one judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.data.highlights import Highlights
from assay.explanations.text_explanation import TextExplanation
from assay.explanations.token_scores import TokenScores
from assay.registry.finding import checks
from assay.registry.sample_task import examines_sample
from assay.text.example import Example, Mark

TEXTS = [
    "a funny film",
    "dull",
    "the plot was not good , not funny and not a film",
    "an utterly charming comedy with a big heart",
    "very dull " * 40 + "film",  # longer than the window of the model
    "it is what it is",
    "no planted word here",
]


def marked(texts: Sequence[str]) -> Highlights:
    """The first word of each text."""
    spans = {text: assay.Text.of(text).spans[0] for text in texts}
    return Highlights.of(Example("", (text,), None, ((Mark(0, *span),),)) for text, span in spans.items())


# Small, and such that each check has something to warn of.
SETTINGS: dict[str, dict[str, Any]] = {
    "adversarial_attention": {"steps": 5, "k": 2},
    "attention_permutation": {"permutations": 11},
    "human_agreement": {"highlights": marked(TEXTS[:-1]), "tuned_on": "held_out"},
    "randomization": {"part": "head", "seeds": (0,)},
    "rank_agreement": {"other": "leave_one_out"},
    "sensitivity": {"edits": ("case",), "drops": 1},
    "shortcut_recovery": {"planted": marked(TEXTS[:-1])},
    "stability": {"edits": ("punctuation",)},
}
OF_TEXTS = {
    name: card
    for name, card in checks().items()
    if not examines_sample(card) and issubclass(card.reads, TextExplanation)
}
# Those of maps of words, which trust cards and studies are about, and those of other kinds.
TEXT_CHECKS = [name for name, card in OF_TEXTS.items() if issubclass(TokenScores, card.reads)]
OTHER_KINDS = [name for name in OF_TEXTS if name not in TEXT_CHECKS]
WARNED = {
    "adversarial_attention": "one word",
    "attention_permutation": "one word",
    "human_agreement": "was tuned on few texts",
    "randomization": "head alone",
    "rank_agreement": "same method",
    "shortcut_recovery": "1 of 7 texts left out: not in highlights.",
}


def model_for(name: str) -> assay.TextModel:
    return assay.load(tiny.attentive() if "attention" in name else tiny.bert())


NUMBERS = ("mean", "random", "difference", "interval", "p_value", "scores")


def same(one: assay.Verdict, other: assay.Verdict) -> None:
    a, b = one.to_dict(), other.to_dict()
    assert {key for key in a if key not in (*NUMBERS, "facts") and a[key] != b[key]} == set()
    for key in NUMBERS:
        assert np.asarray(a[key]) == pytest.approx(np.asarray(b[key]), rel=1e-4, abs=1e-5), key
    assert a["facts"] == pytest.approx(b["facts"], rel=1e-4, abs=1e-5)
    assert one.chance == other.chance
