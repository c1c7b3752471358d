"""Methods that describe the model alone, and random numbers for methods that describe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from test_engine import lexicon

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.sample_explanation import SampleId
from assay.explanations.selection import Selection
from assay.models import BlackBox
from assay.questions import Aims, Conversation, Each, Randomness
from assay.questions.cases import with_aims
from assay.registry import Row, Uses, method
from assay.registry.cards import METHODS
from assay.text.sample import NO_SAMPLE, Sample

SAMPLE = Sample.of(["a film", "a dull film"])


def box() -> BlackBox:
    return BlackBox(lexicon, labels=["bad", "good"])


def drawn(sample: Sample) -> Conversation[float]:
    generator = yield Randomness(sample)
    return float(generator.random())


def drawn_twice(sample: Sample) -> Conversation[list[float]]:
    """A child gets the same numbers as its parent: who wants others draws them in the parent and hands them on."""
    inside = yield Each([drawn(sample)])
    return [(yield from drawn(sample)), *inside]


def number(sample: Sample, seed: int) -> list[float]:
    return next(Engine(box()).run([with_aims(drawn_twice(sample), Aims(seed=seed))])).get()


def test_random_numbers_come_from_the_seed_and_the_sample() -> None:
    state = np.random.get_state()[1].tolist()
    one = number(SAMPLE, 3)
    assert one == number(SAMPLE, 3)
    assert one[0] == one[1]
    assert one != number(SAMPLE, 4)
    assert one != number(Sample.of(["another film"]), 3)
    assert number(NO_SAMPLE, 3) != number(NO_SAMPLE, 4)
    assert np.random.get_state()[1].tolist() == state


@pytest.fixture
def alone() -> Iterator[str]:
    """A method that needs no sample, registered for the time of a test."""

    @method(title="Alone", row=Row.ENSEMBLE, uses=Uses.BLACK_BOX, paper="none", needs=(), returns=Selection, alone=True)
    @dataclass(frozen=True, kw_only=True)
    class Alone:
        def describe(self, sample: Sample) -> Conversation[Selection]:
            value = yield from drawn(sample)
            return Selection(SampleId.of(sample), facts={"drawn": value})

    yield "test_model_alone"
    del METHODS["test_model_alone"]


def test_the_model_alone_is_described_without_a_sample(alone: str) -> None:
    e = assay.describe(box(), method=alone, seed=2, progress=False)
    assert e.sample.size == 0
    assert e.facts["drawn"] == assay.describe(box(), None, alone, seed=2).facts["drawn"]
    assert e.facts["drawn"] != assay.describe(box(), None, alone, seed=1).facts["drawn"]
    assert "0 texts of" not in e.to_html()
    assert assay.describe(box(), SAMPLE, alone).sample.size == 2


def test_checks_take_a_method_of_the_model_alone(alone: str) -> None:
    (found,) = assay.check(box(), None, alone, "coverage_gain", progress=False)
    assert found.method == alone


def test_an_empty_sample_is_not_taken_for_none(alone: str) -> None:
    with pytest.raises(BadInput, match="there are no texts in the list"):
        assay.describe(box(), [], alone)


def test_a_method_that_needs_texts_says_so() -> None:
    wanted = r"sp_lime describes what a model does with texts; give a sample of them \(--file F\)\."
    with pytest.raises(BadInput, match=wanted):
        assay.describe(box(), None, "sp_lime")
    with pytest.raises(BadInput, match=wanted):
        assay.check(box(), None, "sp_lime", "coverage_gain")
