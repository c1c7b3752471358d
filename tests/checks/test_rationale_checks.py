"""The checks of rationales: planted rationalisers that must pass and that must not, and the arithmetic by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.checks.answer_sensitivity import AnswerSensitivity
from assay.checks.counterfactual_faithfulness import WORDS, CounterfactualFaithfulness, Inserted, Insertions
from assay.checks.simulatability import Simulatability
from assay.engine.engine import Engine
from assay.explanations.about import About
from assay.explanations.case import Case
from assay.explanations.rationale import Rationale, Reason
from assay.explanations.word_overlap import mentions, overlap
from assay.models import TextModel
from assay.questions.base import Conversation, now
from assay.questions.erasers import Delete, each
from assay.questions.generation import Prompt
from assay.questions.predict import Predict
from assay.registry.cards import METHODS, method
from assay.registry.survey import Row, Uses
from assay.statistics.verdict import Verdict
from assay.text.text import Text

TEXTS = [
    f"the {thing} was {how}" for thing in ("film", "plot", "acting", "music", "ending") for how in ("good", "fine")
]


def lexicon(texts: list[str]) -> np.ndarray:
    """Good, unless a word says otherwise."""
    words = {"never", "hardly", "not", "awful", "boring"}
    return np.where([bool(words & set(text.split())) for text in texts], 0.1, 0.9)


@dataclass(frozen=True, kw_only=True)
class NamesTheWord:
    """Faithful: it names the word without which the prediction changes most."""

    def explain(self, case: Case) -> Conversation[Rationale]:
        without = yield from Delete().erase(case.text, each(len(case.text)))
        values = case.value((yield Predict(case.text, without)))
        if not np.ptp(values):
            return Rationale(case, Reason("no single word matters."))
        return Rationale(case, Reason(f"the text says {case.text.words[int(np.argmin(values[1:]))]}."))


@dataclass(frozen=True, kw_only=True)
class SaysAnything:
    """Unfaithful: a random word of a list, whatever the text."""

    def explain(self, case: Case) -> Conversation[Rationale]:
        drawn = np.random.default_rng(case.text.seed).choice(["weather", "table", "number", "colour"])
        return now(Rationale(case, Reason(f"it has to do with the {drawn}.")))


@dataclass(frozen=True, kw_only=True)
class RepeatsTheText:
    """Unfaithful: it mentions everything, and so the inserted word too."""

    def explain(self, case: Case) -> Conversation[Rationale]:
        return now(Rationale(case, Reason(f"because {case.text}.")))


@dataclass(frozen=True, kw_only=True)
class ArguesForTheAnswer:
    """Unfaithful: told that it is bad it blames whatever stands out, without a look at the model."""

    def explain(self, case: Case) -> Conversation[Rationale]:
        odd = next((word for word in case.text.words if word in WORDS), "the subject")
        return now(Rationale(case, Reason(f"it is {odd}." if case.target == 0 else "all is well.")))


PLANTED = {
    "argues_for_the_answer": ArguesForTheAnswer,
    "names_the_word": NamesTheWord,
    "says_anything": SaysAnything,
    "repeats_the_text": RepeatsTheText,
}


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, cls in PLANTED.items():
        monkeypatch.setattr(cls, "__module__", f"planted.{name}")
        where = {"row": Row.NATURAL_LANGUAGE, "uses": Uses.BLACK_BOX}
        method(title=name, **where, paper="none", needs=(Predict,), returns=Rationale)(cls)  # type: ignore[arg-type]
    yield
    for name in PLANTED:
        del METHODS[name]


def box() -> TextModel:
    return assay.BlackBox(lexicon, labels=["bad", "good"])


def found(method: str, check: Any, texts: Any = TEXTS, **more: Any) -> Verdict:
    return assay.check(box(), texts, [method], [check], progress=False, **more)[0]


def test_a_faithful_rationaliser_passes_counterfactual_faithfulness_and_a_random_one_does_not() -> None:
    faithful = found("names_the_word", "counterfactual_faithfulness")
    assert faithful.mean > 0.8
    assert faithful.facts["mentioned"] == 1.0
    assert faithful.p_value < 0.01
    assert abs(np.mean(faithful.random_scores)) < 0.2
    chance = found("says_anything", "counterfactual_faithfulness")
    assert abs(chance.mean) < 0.2
    assert chance.p_value > 0.05


def test_to_repeat_the_whole_text_is_not_faithful() -> None:
    """It mentions what changed the prediction every time, and what did not change it too."""
    repeated = found("repeats_the_text", "counterfactual_faithfulness")
    assert (repeated.facts["mentioned"], repeated.facts["idle_mentioned"], repeated.mean) == (1.0, 1.0, 0.0)
    assert not repeated.passed


def test_to_blame_any_word_for_the_answer_shows_in_what_is_said_of_another_word_for_the_same_answer() -> None:
    blames = found("argues_for_the_answer", "counterfactual_faithfulness")
    assert (blames.mean, blames.facts["idle_mentioned"], blames.facts["idle_same_answer"]) == (1.0, 0.0, 1.0)
    sharp = CounterfactualFaithfulness(same_answer=True)
    blamed = found("argues_for_the_answer", sharp)
    assert blamed.mean == 0.0
    assert not blamed.passed
    faithful = found("names_the_word", sharp)
    assert faithful.facts["idle_same_answer"] == 0.0
    assert faithful.mean > 0.8
    assert faithful.p_value < 0.01


def test_a_text_whose_prediction_no_word_changes_is_left_out() -> None:
    def stubborn(texts: list[str]) -> np.ndarray:
        return np.where(["anyhow" in text for text in texts], 0.9, lexicon(texts))

    model = assay.BlackBox(stubborn, labels=["bad", "good"])
    told = assay.check(
        model, ["a film anyhow", *TEXTS[:4]], ["names_the_word"], ["counterfactual_faithfulness"], progress=False
    )[0]
    assert len(told.scores) == 4
    assert any("none of 60 insertions changes the prediction" in said for said in told.warnings)


def inserted(texts_to_numbers: Any, text: str, **settings: Any) -> tuple[Any, CounterfactualFaithfulness, Insertions]:
    check, model = CounterfactualFaithfulness(**settings), assay.BlackBox(texts_to_numbers, labels=["bad", "good"])
    engine = Engine(model)
    e = assay.explain(model, text, "names_the_word", engine=engine)
    return e, check, next(engine.run([check.against(e)])).get()


def graded(texts: list[str]) -> list[float]:
    worst = {"never": 0.1, "not": 0.4, "dead": 0.45, "angry": 0.95}
    return [min([worst.get(word, 0.9) for word in text.split()]) for text in texts]


def test_the_inserted_word_is_the_one_that_changes_most_beside_one_that_changes_nothing() -> None:
    e, check, known = inserted(graded, "a film", tries=1000)
    assert known.flipped
    assert known.telling == Inserted("never", "the text says never.", 0)
    assert known.idle is not None
    assert known.idle.word == WORDS[1]  # of many that change nothing, the first
    assert check.measure(e, known).score == 1
    assert check.measure(replace(e), known).score == 0  # not the explanation itself: what it says counts
    both = replace(e, reason=Reason(f"never and {WORDS[1]}"))
    assert check.measure(both, known).score == 0
    assert check.measure(replace(e, reason=Reason(WORDS[1])), known).score == -1


def test_a_word_that_the_text_has_is_not_inserted() -> None:
    e, _, known = inserted(graded, "a film that is never dull, said NOT", tries=1000, flips_only=False)
    words = {word for word, _ in CounterfactualFaithfulness(tries=10_000)._insertions(e)}
    assert words == {*WORDS} - {"never", "not"}
    assert known.telling is not None
    assert known.telling.word not in ("never", "not")


def test_a_text_that_every_word_changes_is_left_out() -> None:
    e, check, known = inserted(lambda texts: [0.9 if text == "a film" else 0.1 for text in texts], "a film")
    assert check.measure(e, known).left_out == "all of 60 insertions change the prediction"


@cache
def writer() -> TextModel:
    return assay.load(tiny.causal_lm("gpt2"))


def rationale(own: str, others: dict[int, str], text: str = "a film", target: int = 1) -> Rationale:
    prompts = {i: Prompt(f"{text}. The answer is {i} because") for i in (target, *others)}
    reasons = {i: Reason(other) for i, other in others.items()}
    about = About(method="cage", parameters={"model": "writer"}, labels=("bad", "good", "fair"))
    return Rationale(Case(Text.of(text), target), Reason(own), (), reasons, prompts, about=about)


def likelihood(prompt: str, rest: str) -> float:
    import torch

    model, tokenizer = tiny.causal_lm("gpt2")
    head, tail = (tokenizer(part)["input_ids"] for part in (prompt, rest))
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([head + tail])).logits[0, len(head) - 1 : -1].double().log_softmax(-1)
    return float(np.mean([float(row[token]) for row, token in zip(logits, tail, strict=True)]))


def test_answer_sensitivity_against_a_plain_loop() -> None:
    e = rationale("it is very good", {0: "it is dull", 2: "nobody knows"})
    engine = Engine(box(), resolve=lambda name: writer())
    got = next(engine.run([AnswerSensitivity().examine(e)])).get()
    stem = "a film. The answer is {} because"
    own = likelihood(stem.format(1), " it is very good")
    others = [likelihood(stem.format(0), " it is dull"), likelihood(stem.format(2), " nobody knows")]
    told = [likelihood(stem.format(i), " it is very good") for i in (0, 2)]
    assert got.score == pytest.approx(own - np.mean(others), abs=1e-4)
    assert got.facts["loss"] == pytest.approx(own - np.mean(told), abs=1e-4)
    assert got.facts["similarity"] == pytest.approx((2 * 2 / 7 + 0) / 2)


def test_without_other_answers_there_is_nothing_to_compare() -> None:
    assert AnswerSensitivity().left_out(rationale("it is", {})) is not None
    assert AnswerSensitivity().left_out(rationale("it is", {0: ""})) is not None
    assert AnswerSensitivity().left_out(rationale("it is", {0: "so"})) is None


def simulated(reasons: list[str], n: int = 60, seed: int = 0) -> list[Rationale]:
    """Texts that say nothing of the answer, and reasons that may."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        words = " ".join(rng.choice(["one", "two", "three", "four", "five", "six"], size=6))
        target = int(rng.integers(2))
        made.append(rationale(f"{reasons[target]} {i % 7}", {}, words, target))
    return made


def measured(explanations: list[Rationale]) -> list[Any]:
    ready = Simulatability(folds=5).prepare(explanations)
    return [ready._known[id(e)] for e in explanations]


def test_a_rationale_that_helps_is_simulatable_and_a_random_one_is_not() -> None:
    own = simulated(["never mind", "all is well"])
    found = measured(own)
    assert np.mean([one.score for one in found]) > 0.3
    assert np.mean([one.facts["from_both"] for one in found]) > 0.9
    rest = [np.mean([one.score for one in measured(list(maps))]) for maps in Rationale.random_sets(own, 5)]
    assert np.mean(rest) < 0.15


def test_las_is_the_mean_of_the_leaking_and_the_other_texts() -> None:
    found = measured(simulated(["it is it", "it is well"], seed=3))
    gains = np.array([one.facts["from_both"] - one.facts["from_text"] for one in found])
    leaks = np.array([one.facts["from_rationale"] for one in found]) == 1
    assert 0 < leaks.mean() < 1 or leaks.all()
    groups = [gains[part].mean() for part in (leaks, ~leaks) if part.any()]
    assert np.mean([one.score for one in found]) == pytest.approx(np.mean(groups))


def test_few_texts_are_said() -> None:
    assert any("fewer than 30" in said for said in measured(simulated(["a", "b"], n=5))[0].warnings)
    assert measured(simulated(["a", "b"], n=1))[0].score == 0


@pytest.mark.parametrize(
    ("one", "two", "share"),
    [("a b c", "A, b; c!", 1.0), ("a a b", "a c", 2 / 5), ("", "", 1.0), ("a", "", 0.0), ("can't", "can not", 0.0)],
)
def test_overlap_by_hand(one: str, two: str, share: float) -> None:
    assert overlap(one, two) == pytest.approx(share)


def test_a_mention_is_a_whole_word() -> None:
    assert mentions("The man is NOT there.", "not")
    assert not mentions("nothing is there", "not")
    assert not mentions("nothing", "")
