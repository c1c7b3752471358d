"""Selection: coverage, what each pick adds, random choices, and saving; and kinds that are read back by their name."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import BadInput
from assay.explanations.about import About, Cost
from assay.explanations.base import Explanation
from assay.explanations.case import Case
from assay.explanations.sample_explanation import SampleId
from assay.explanations.selection import Selection
from assay.explanations.text_explanation import TextExplanation
from assay.explanations.token_scores import TokenScores
from assay.text.text import Text

SAMPLE = SampleId("reviews.csv", "0f" * 16, 3)
WORDS = ("good", "film", "dull", "end")


def scored(text: str) -> TokenScores:
    words = Text.of(text)
    about = About(method="lime", labels=("no", "yes"))
    return TokenScores(Case(words, 1), np.arange(len(words)) - 1.0, prediction={"no": 0.25, "yes": 0.75}, about=about)


def selection(**changes: Any) -> Selection:
    rows = ((0, 1), (2,), (1, 2, 3))
    maps = (scored("good film"), scored("film dull end"))
    e = Selection(SAMPLE, WORDS, np.array([4.0, 1.0, 3.0, 2.0]), rows, (0, 2), maps)
    return e.told(**changes) if changes else e


def test_coverage_by_hand() -> None:
    e = selection()
    assert e.coverage([0]) == pytest.approx(0.5)
    assert e.gains == pytest.approx((0.5, 0.5))
    assert e.covered == 1
    assert e.coverage([]) == 0
    assert e.coverage([1]) == pytest.approx(0.3)
    assert e.new_words == ((0, 1), (2, 3))
    assert e.covered_words == {"good": 4.0, "dull": 3.0, "end": 2.0, "film": 1.0}
    assert list(e.covered_words) == ["good", "dull", "end", "film"]


@given(st.lists(st.sets(st.integers(0, 5)), min_size=1, max_size=6), st.permutations(range(6)))
def test_coverage_never_falls(rows: list[set[int]], order: list[int]) -> None:
    chosen = tuple(i for i in order if i < len(rows))
    importance = np.arange(1.0, 7.0)
    e = Selection(SAMPLE, tuple("abcdef"), importance, tuple(tuple(sorted(row)) for row in rows), chosen)
    assert all(gain >= -1e-12 for gain in e.gains)
    assert sum(e.gains) == pytest.approx(e.covered)
    everything = set().union(*rows)
    assert e.covered == pytest.approx(sum(importance[list(everything)]) / importance.sum())
    assert sorted(word for new in e.new_words for word in new) == sorted(everything)


def test_random_choices_are_of_the_same_size_and_follow_the_seed() -> None:
    e = selection()
    drawn = [one.chosen for one in e.random_like(60)]
    assert all(len(set(chosen)) == 2 for chosen in drawn)
    assert {frozenset(chosen) for chosen in drawn} == {frozenset(s) for s in ((0, 1), (0, 2), (1, 2))}
    assert all(one.maps == () for one in e.random_like(3))
    assert drawn == [one.chosen for one in e.random_like(60)]
    other = e.told(about=replace(e.about, seed=1))
    assert drawn != [one.chosen for one in other.random_like(60)]


def test_it_saves_and_loads_by_its_kind() -> None:
    e = selection(facts={"a": 1}, warnings=("so",), about=About(method="sp_lime", cost=Cost(3, 2), seed=4, model="m"))
    data = json.loads(e.to_json())
    assert (data["kind"], data["chosen"], data["covered"]) == ("Selection", [0, 2], 1.0)
    assert data["sample"] == {"name": "reviews.csv", "digest": "0f" * 16, "size": 3}
    for back in (Selection.from_json(e.to_json()), Explanation.from_json(e.to_json())):
        assert isinstance(back, Selection)
        assert back.to_dict() == e.to_dict()
        assert back.sample == e.sample
        assert [one.to_dict() for one in back.maps] == [one.to_dict() for one in e.maps]


def test_what_is_known_of_the_model_reaches_the_maps() -> None:
    e = selection(about=About(method="sp_lime", model="sst2", versions={"assay": "1"}, seed=5))
    assert [(m.about.method, m.about.model, m.about.seed) for m in e.maps] == [("lime", "sst2", 5)] * 2


def test_to_frame() -> None:
    frame = selection().to_frame()
    assert frame["index"].tolist() == [0, 2]
    assert frame["text"].tolist() == ["good film", "film dull end"]
    assert frame["label"].tolist() == ["yes", "yes"]
    assert frame["covered"].tolist() == pytest.approx([0.5, 1.0])
    assert frame["new_words"].tolist() == [["good", "film"], ["dull", "end"]]
    assert "text" not in selection(maps=()).to_frame()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"chosen": (0, 0)}, "different places below 3"),
        ({"chosen": (0, 3)}, "different places below 3"),
        ({"importance": np.array([1.0, 2.0])}, "4 words need as many"),
        ({"importance": np.array([1.0, -2.0, 1.0, 1.0])}, "4 words need as many"),
        ({"maps": (scored("good film"),)}, "as many maps or none"),
    ],
)
def test_what_does_not_fit_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(selection(), **wrong)


def test_every_kind_is_read_back_by_its_name() -> None:
    e = scored("good film")
    back = Explanation.from_dict(e.to_dict())
    assert isinstance(back, TokenScores)
    assert back.to_dict() == e.to_dict()


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(BadInput, match="no kind of explanation is called 'Selektion'; did you mean 'Selection'"):
        Explanation.from_json(json.dumps({**selection().to_dict(), "kind": "Selektion"}))
    with pytest.raises(BadInput, match="this is no Explanation that Assay wrote"):
        Explanation.from_json("{}")


def test_a_subclass_without_a_kind_of_its_own_does_not_take_the_name() -> None:
    class Silent(TokenScores):
        pass

    assert type(Explanation.from_dict(scored("good film").to_dict())) is TokenScores
    assert Silent.kind == "TokenScores"


def test_kinds_without_random_ones_say_so() -> None:
    e = TextExplanation(Case(Text.of("good film"), 0), about=About(method="mine"))
    with pytest.raises(BadInput, match="mine returns TextExplanation, of which there are no random ones"):
        e.random_like(3)
