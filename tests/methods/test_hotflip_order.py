"""HotFlip tries the most promising versions first and ends early: what it finds is what trying all would find."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from typing import Any

import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.explanations.edits import Edits
from assay.methods.adversarial import hotflip
from assay.text.stop_words import STOP_WORDS

TEXTS = ["a funny film", "the plot was dull", "two dogs run through the tall grass", "this is a very good film"]
ALL = 10**6  # versions that are wanted: a search for so many tries all


def sure(words: int) -> str:
    """A text of so many words that speak for one label, so that one flip is not enough."""
    weights = tiny.linear_bow().weights
    known = sorted((w for w in weights if w.isascii() and w.isalpha() and w not in STOP_WORDS), key=weights.__getitem__)
    return " ".join(known[-words:])


@lru_cache
def model_of(family: str) -> Any:
    """The linear one, or one whose answers move more with its words than those of a new network do."""
    if family == "bow":
        return assay.load((tiny.linear_bow().model, tiny.linear_bow().tokenizer))
    network, tokenizer = deepcopy(tiny.bert())
    network.classifier.weight.data -= network.classifier.weight.data.mean(1, keepdim=True)
    network.bert.embeddings.word_embeddings.weight.data *= 30
    return assay.load((network, tokenizer))


def found(text: str, family: str, **settings: Any) -> Edits:
    model = model_of(family)
    return assay.explain(model, text, "hotflip", engine=Engine(model), stop_words="any", **settings)  # type: ignore[no-any-return]


@pytest.mark.parametrize("family", ["bert", "bow"])
@pytest.mark.parametrize("flips", [1, 3])
def test_a_search_that_ends_early_finds_a_flip_wherever_one_that_tries_all_does(family: str, flips: int) -> None:
    saved = 0
    for text in [*TEXTS, sure(6)]:
        settings = {"flips": flips, "candidates": 12, "beam": 3}
        early, whole = (found(text, family, versions=versions, **settings) for versions in (1, ALL))
        assert bool(early.edits) == bool(whole.edits)
        assert len(early.facts["path"]) == len(whole.facts["path"])
        tried, every = (sum(step["tried"] for step in e.facts["path"]) for e in (early, whole))
        saved += every - tried
        assert tried <= every
        if early.edits:
            assert early.edits[0].text in {edit.text for edit in whole.edits}
        else:
            assert (early.nearest, tried) == (whole.nearest, every)
    assert saved > 0


def test_as_many_versions_as_are_wanted_are_found_where_there_are_so_many() -> None:
    every = found(TEXTS[0], "bow", flips=1, versions=ALL)
    assert len(every.edits) > 5
    some = found(TEXTS[0], "bow", flips=1, versions=5)
    assert len(some.edits) == 5
    assert {edit.text for edit in some.edits} < {edit.text for edit in every.edits}
    (step,) = some.facts["path"]
    assert 5 <= step["flipped"] <= step["tried"] < every.facts["path"][0]["tried"]


def test_of_a_linear_model_the_first_that_is_tried_is_the_best_so_one_gradient_and_one_portion_are_enough() -> None:
    e = found(TEXTS[0], "bow", flips=3, versions=1)
    assert e.facts["path"] == [{"gradients": 1, "tried": hotflip._FIRST, "flipped": e.facts["path"][0]["flipped"]}]
    every = found(TEXTS[0], "bow", flips=3, versions=ALL)
    assert e.edits[0].text == every.edits[0].text


def test_the_others_of_the_beam_need_a_gradient_only_where_the_best_of_it_was_not_enough() -> None:
    settings = {"beam": 4, "versions": 1, "candidates": 12}
    e = found(sure(6), "bow", flips=6, **settings)
    steps = e.facts["path"]
    assert len(steps) > 2
    assert [step["gradients"] for step in steps] == [1, *[4] * (len(steps) - 2), 1]
    assert steps[0]["tried"] == 12 < steps[1]["tried"] <= 4 * 12
    assert [bool(step["flipped"]) for step in steps] == [False] * (len(steps) - 1) + [True]


@pytest.mark.parametrize("flips", [1, 3])
def test_the_path_counts_the_rows_that_the_model_was_asked(flips: int) -> None:
    for text in TEXTS:
        e = found(text, "bert", flips=flips, versions=2)
        rows = 1 + sum(step["gradients"] + step["tried"] for step in e.facts["path"])
        assert e.about.cost.forwards == rows + 1, "one row more: the words that random edits put in"
        assert e.about.cost.backwards == sum(step["gradients"] for step in e.facts["path"])
