"""What a check may do besides examining: measure more, learn from all maps, hold texts out, warn, ask once per text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput, NonFiniteAnswer
from assay.explanations.token_scores import TokenScores
from assay.models import BlackBox
from assay.questions.base import Conversation, now
from assay.questions.predict import Predict
from assay.registry.cards import CheckCard
from assay.registry.measured import Measured
from assay.verdicts import judge as judging

TEXTS = ["a good film", "a very dull film", "good", "not so good a film at all"]


def model() -> BlackBox:
    return BlackBox(lambda texts: [0.9 if "good" in t else 0.2 for t in texts], labels=["n", "p"], name="box")


def told(check: Any, texts: list[str] = TEXTS, draws: int = 3) -> assay.Verdict:
    engine = Engine(model())
    maps = assay.explain(engine.model, texts, "leave_one_out", engine=engine, progress=False)
    card = CheckCard("own", "Own", type(check), "", (), TokenScores, "higher", "nothing")
    (found,) = judging._judged(engine, maps, [(card, check)], draws, 0, False)
    return found.verdict()


@dataclass(frozen=True)
class Counts:
    """Measures the number of words, and more."""

    def examine(self, e: TokenScores) -> Conversation[Measured]:
        facts = {"words": float(len(e.text))} | ({"long": 1.0} if len(e.text) > 3 else {})
        return now(Measured(len(e.text) / 2, facts))


def test_facts_are_means_over_the_texts_that_have_them() -> None:
    verdict = told(Counts())
    assert verdict.scores.tolist() == [1.5, 2.0, 0.5, 3.5]
    assert verdict.facts == {"words": pytest.approx(15 / 4), "long": 1.0}
    assert verdict.to_dict()["facts"] == verdict.facts


@dataclass(frozen=True)
class Tuned:
    """Learns the mean size of a set, on every second text, and is about the others."""

    learned: float = -1.0
    held_out: tuple[str, ...] = ()

    def prepare(self, explanations: Sequence[TokenScores]) -> Tuned:
        assert len(explanations) == len(TEXTS)
        held = [str(e.text) for e in explanations[::2]]
        return replace(self, learned=float(np.mean([e.scores[0] for e in explanations[::2]])), held_out=tuple(held))

    def left_out(self, e: TokenScores) -> str | None:
        return "held out" if str(e.text) in self.held_out else None

    def examine(self, e: TokenScores) -> Conversation[Measured]:
        long = ("more than four words",) if len(e.text) > 4 else ()
        return now(Measured(self.learned, {}, (f"tuned to {self.learned:.3f}", *long)))


def test_each_set_of_maps_tunes_the_check_for_itself() -> None:
    verdict = told(Tuned())
    own = np.mean([assay.explain(model(), text, "leave_one_out").scores[0] for text in TEXTS[::2]])
    assert verdict.scores == pytest.approx([own, own])
    assert verdict.random_scores.shape == (2, 3)
    assert (verdict.random_scores[0] == verdict.random_scores[1]).all()
    assert len({own, *verdict.random_scores[0]}) == 4
    few = "too few texts (2) for an interval over texts"
    assert tuple(warning for warning in verdict.warnings if not warning.startswith(few)) == (
        "2 of 4 texts left out: held out.",
        f"tuned to {own:.3f}",
        "more than four words (1 of 2 texts)",
    )
    assert verdict.parameters == {"learned": -1.0, "held_out": []}


@dataclass(frozen=True)
class Nothing(Counts):
    def left_out(self, e: TokenScores) -> str | None:
        return "too short" if len(e.text) < 3 else "too long"


def test_a_check_that_can_use_no_text_says_why() -> None:
    with pytest.raises(
        BadInput, match=r"own can use none of these 4 texts: 3 of 4 .* too long\. 1 of 4 .* too short\."
    ):
        told(Nothing())


@dataclass(frozen=True)
class Held:
    """Holds every map against the prediction, which is asked once per text."""

    asked: ClassVar[list[str]] = []

    def against(self, e: TokenScores) -> Conversation[float]:
        self.asked.append(str(e.text))
        return float((yield Predict(e.text)).probabilities[0, e.target])

    def measure(self, e: TokenScores, chance: float) -> Measured:
        return Measured(chance + float(e.scores[0]), {"chance": chance})


def test_what_all_maps_are_held_against_is_asked_once() -> None:
    Held.asked.clear()
    verdict = told(Held())
    assert Held.asked == TEXTS
    first = [assay.explain(model(), text, "leave_one_out").scores[0] for text in TEXTS]
    assert verdict.scores == pytest.approx(np.array([0.9, 0.8, 0.9, 0.9]) + first)
    assert verdict.facts["chance"] == pytest.approx(0.875)


@dataclass(frozen=True)
class Broken:
    def examine(self, e: TokenScores) -> Conversation[Measured]:
        return now(Measured(1.0, {"what": float("nan")}))


def test_nan_is_never_averaged() -> None:
    with pytest.raises(NonFiniteAnswer, match="what"):
        told(Broken())


@pytest.mark.parametrize("text", ["a good film", "good"])
def test_random_maps_are_as_large_as_the_explanation(text: str) -> None:
    e = assay.explain(model(), text, "leave_one_out")
    size = np.linalg.norm(e.scores)
    assert [np.linalg.norm(m.scores) for m in e.random_like(5)] == pytest.approx([size] * 5)
    zeros = e.told(scores=np.zeros(len(e.text)))
    assert all(np.linalg.norm(m.scores) > 0 for m in zeros.random_like(5))


def test_random_maps_have_a_sign_where_the_explanation_has_one() -> None:
    e = assay.explain(model(), "a good film of the year", "leave_one_out")
    signed, unsigned = (list(one.random_like(5)) for one in (e, e.told(facts={"signed": False})))
    assert all((m.scores < 0).any() for m in signed)
    assert all((m.scores > 0).all() for m in unsigned)
    np.testing.assert_allclose([np.abs(m.scores) for m in signed], [m.scores for m in unsigned])
