"""The trust card: what counts as a test, what the verdicts come to, how far methods agree, and what is left out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import tiny
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay import BlackBox, TrustCard
from assay.engine.engine import Engine
from assay.errors import BadInput, EmptyText, Unanswerable, UnknownName
from assay.explanations.about import About
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.registry.finding import find_check, find_method
from assay.statistics.verdict import Verdict
from assay.text.text import Text
from assay.verdicts.agreement import Agreement, shared, strongest, tau
from assay.verdicts.standing import Standing, listed, tells, title_of
from assay.verdicts.trust import default_checks, default_methods

WEIGHTS = {"superb": 1.8, "good": 1.0, "funny": 1.5, "mess": -3.0, "dull": -1.5, "but": 0.4, "script": -0.7}
SENTENCE = "the acting is superb and funny but the script is a dull mess for two hours"


def chances(texts: Sequence[str]) -> np.ndarray[Any, Any]:
    values = np.array([sum(WEIGHTS.get(word, 0.0) for word in text.split()) for text in texts])
    positive = 1 / (1 + np.exp(-values))
    return np.stack([1 - positive, positive], axis=1)


MODEL = BlackBox(chances, labels=["negative", "positive"], name="lexicon")


def made(name: str, **parameters: Any) -> Any:
    return find_method(name).make(parameters)


@pytest.fixture(scope="module")
def card() -> TrustCard:
    return assay.trust(MODEL, SENTENCE, ["leave_one_out", "kernel_shap", "random"], progress=False)


# The verb


def test_true_maps_are_believed_and_random_ones_are_not(card: TrustCard) -> None:
    levels = {standing.name: standing.level for standing in card.standings}
    assert levels == {"leave_one_out": "yes", "kernel_shap": "yes", "random": "no"}
    assert card.best is not None
    assert card.best.name in ("leave_one_out", "kernel_shap")
    assert "“mess” speaks most for “negative”, “superb” most against it." in card.summary
    assert "Do not read Random as a reason." in card.summary
    assert card.ordered[-1].name == "random"


def test_numbers_are_those_of_the_verb_check(card: TrustCard) -> None:
    check = find_check("comprehensiveness").make()
    (alone,) = assay.check(MODEL, SENTENCE, ["leave_one_out"], [check], draws=100)
    (mine,) = [v for v in card.verdicts["leave_one_out"] if v.check == "comprehensiveness"]
    assert mine.scores.tolist() == alone.scores.tolist()
    assert mine.random_scores.tolist() == alone.random_scores.tolist()
    assert mine.p_value == alone.p_value


def test_two_settings_of_a_method_have_verdicts_of_their_own() -> None:
    two = [made("leave_one_out"), made("leave_one_out", eraser="unknown:superb"), made("leave_one_out")]
    card = assay.trust(MODEL, SENTENCE, two, ["infidelity"], progress=False)
    assert list(card.verdicts) == ["leave_one_out(eraser=delete)", "leave_one_out(eraser=unknown:superb)"]
    assert card.standings[1].title == "Leave-one-out (eraser unknown:superb)"
    first, second = (card.verdicts[name][0].scores[0] for name in card.verdicts)
    assert first != second
    assert set(card.explanations) == set(card.verdicts) == set(card.sentences)
    assert len(card.standings) == 2


def test_a_model_with_gradients_gets_methods_that_use_them() -> None:
    names = [type(one).__name__ for one in default_methods(assay.load(tiny.bert()))]
    assert names == ["IntegratedGradients", "LeaveOneOut", "KernelShap", "Lime", "InputXGradient"]
    assert "InputXGradient" not in [type(one).__name__ for one in default_methods(MODEL)]


def test_deletion_is_asked_twice_where_the_model_has_another_way_to_erase() -> None:
    def erasers(model: Any) -> list[str]:
        return [str(c.eraser) for c in default_checks(model) if type(c).__name__ == "Deletion"]

    assert erasers(assay.load(tiny.bert())) == ["delete", "mask"]
    assert erasers(MODEL) == ["delete"]


def test_checks_go_to_the_methods_they_are_about() -> None:
    methods = ["input_x_gradient", "leave_one_out", made("kernel_shap", samples=64)]
    card = assay.trust(tiny.bert(), "a slow , sad and strangely beautiful story", methods, progress=False)
    asked = {name: {v.check for v in verdicts} for name, verdicts in card.verdicts.items()}
    assert "randomization" in asked["input_x_gradient"]
    assert not {"randomization", "completeness"} & asked["leave_one_out"]
    assert "completeness" in asked["kernel_shap"]
    assert not {"rank_agreement", "sensitivity", "human_agreement"} & set.union(*asked.values())


def test_what_needs_more_is_left_out_and_says_why(card: TrustCard) -> None:
    assert "highlights" in card.left_out["human_agreement"]
    assert "between all methods" in card.left_out["rank_agreement"]
    assert "whole labelled sample" in card.left_out["roar"]


def test_a_check_that_is_named_is_asked_or_says_why_not() -> None:
    with pytest.raises(BadInput, match="highlights"):
        assay.trust(MODEL, SENTENCE, ["leave_one_out"], ["human_agreement"], progress=False)
    card = assay.trust(MODEL, SENTENCE, ["leave_one_out"], ["completeness"], progress=False)
    assert [v.check for v in card.verdicts["leave_one_out"]] == ["completeness"]


@pytest.mark.parametrize(
    ("methods", "error", "said"),
    [
        (["gradient"], Unanswerable, "InputGradient"),
        (["anchors"], BadInput, "compares scores of words"),
        (["leave_one_outt"], UnknownName, "did you mean 'leave_one_out'"),
        ([object()], UnknownName, "is no method"),
        ([], BadInput, "list of names"),
    ],
)
def test_bad_methods_get_a_sentence(methods: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        assay.trust(MODEL, SENTENCE, methods, progress=False)


def test_no_text_and_a_text_without_words_get_a_sentence() -> None:
    with pytest.raises(BadInput, match="no text"):
        assay.trust(MODEL, [], progress=False)
    with pytest.raises(EmptyText, match=r"^text 2:"):
        assay.trust(MODEL, ["a good film", " "], ["leave_one_out"], ["deletion"], progress=False)


def test_rows_of_all_methods_and_checks_are_asked_once() -> None:
    seen: list[str] = []

    def watched(texts: Sequence[str]) -> np.ndarray[Any, Any]:
        seen.extend(texts)
        return chances(texts)

    assay.trust(BlackBox(watched, labels=["negative", "positive"]), SENTENCE, progress=False)
    assert len(seen) == len(set(seen))


def test_many_texts_get_intervals_and_one_verdict_each() -> None:
    texts = [SENTENCE, "a good and funny film about a dull town", "such a mess of a film but a good cast in it"] * 2
    card = assay.trust(MODEL, texts, ["leave_one_out", "random"], progress=False)
    assert card.texts == 6
    assert all(len(v.scores) == 6 for verdicts in card.verdicts.values() for v in verdicts)
    assert "on texts like these" in card.summary
    assert "“" not in card.summary


def test_the_same_card_each_time(card: TrustCard) -> None:
    again = assay.trust(MODEL, SENTENCE, ["leave_one_out", "kernel_shap", "random"], progress=False)
    assert again.to_dict()["methods"] == card.to_dict()["methods"]
    assert again.to_html() == card.to_html()


def test_json_holds_everything_and_no_nan(card: TrustCard) -> None:
    data = json.loads(card.to_json(), parse_constant=lambda name: pytest.fail(name))
    assert [m["name"] for m in data["methods"]] == ["leave_one_out", "kernel_shap", "random"]
    assert data["use"] == card.best.name  # type: ignore[union-attr]
    assert data["agreement"]["tau"][0][0] == 1
    assert data["methods"][0]["explanations"][0]["scores"] == card.explanations["leave_one_out"][0].scores.tolist()
    one = assay.trust(MODEL, "mess", ["leave_one_out", "random"], ["deletion"], progress=False)
    assert json.loads(one.to_json(), parse_constant=lambda name: pytest.fail(name))["agreement"]["tau"][0][1] is None


def test_an_engine_can_be_shared_and_aims_reach_the_method() -> None:
    engine = Engine(MODEL)
    card = assay.trust(None, SENTENCE, ["leave_one_out"], ["deletion"], engine=engine, target="positive", seed=5)
    assert card.first.label == "positive"
    assert card.seed == card.first.about.seed == 5


def test_random_maps_are_seldom_believed() -> None:
    """At the 5 % level of the tests; more than 11 of 100 would happen once in a hundred times."""
    engine, checks = Engine(MODEL), ["comprehensiveness", "deletion", "sufficiency", "insertion"]
    cards = (assay.trust(None, SENTENCE, ["random"], checks, draws=40, engine=engine, seed=s) for s in range(100))
    assert sum(card.standings[0].level in ("yes", "partly") for card in cards) <= 11


# What counts as a test


def standing(
    *verdicts: Verdict, warnings: tuple[str, ...] = (), eraser: str | None = None, words: str = "one two three"
) -> Standing:
    parameters = {} if eraser is None else {"eraser": eraser}
    about = About(method="leave_one_out", title="Leave-one-out", parameters=parameters, labels=("a", "b"))
    text = Text.of(words)
    e = TokenScores(Case(text, 0), np.arange(len(text)) + 1.0, warnings=warnings, about=about, prediction={"a": 0.8})
    return Standing("leave_one_out", "Leave-one-out", (e,), verdicts)


def verdict(check: str, place: float, *, better: str = "higher", eraser: str = "delete", **more: Any) -> Verdict:
    """A verdict on one text, ahead of this share of 100 random maps."""
    random = np.arange(100)[None, :] / 100
    return Verdict("m", check, better, np.array([place]), random, parameters={"eraser": eraser}, **more)  # type: ignore[arg-type]


GOOD, BAD = 2.0, 0.305


def test_a_lead_is_the_share_of_random_scores_behind() -> None:
    assert verdict("deletion", 0.305).ahead == 0.31
    assert verdict("deletion", 0.305, better="lower").ahead == 0.69
    assert verdict("deletion", 0.30).ahead == 0.305


@settings(max_examples=60)
@given(st.integers(1, 40), st.integers(0, 60), st.booleans())
def test_a_test_tells_if_the_best_map_would_pass_it(ties: int, others: int, lower: bool) -> None:
    """The best value is given to the method itself: then the verdict says whether any map can pass."""
    values = np.array([1.0] * ties + [0.0] * others) * (-1 if lower else 1)
    better = "lower" if lower else "higher"
    v = Verdict("m", "deletion", better, values[:1], values[None, 1:] if len(values) > 1 else np.zeros((1, 0)))  # type: ignore[arg-type]
    assert tells(v) == (v.p_value <= 0.05) == (ties / (ties + others) <= 0.05)


def test_texts_that_cannot_tell_alone_may_tell_together() -> None:
    random = np.array([[1.0, 0.0, 0.0, 0.0]] * 3)
    assert not tells(Verdict("m", "deletion", "higher", np.array([0.5]), random[:1]))
    assert tells(Verdict("m", "deletion", "higher", np.array([0.5, 0.5, 0.5]), random))


def test_rounding_does_not_make_a_test_tell() -> None:
    random = 0.5 + np.arange(50)[None, :] * 1e-13
    assert not tells(Verdict("m", "deletion", "higher", np.array([0.5 + 1e-11]), random))


@pytest.mark.parametrize(
    ("places", "level", "said"),
    [
        ([GOOD] * 4, "yes", "Better than random in all 4 tests; its strongest words are words the model uses."),
        (
            [GOOD] * 3 + [BAD],
            "yes",
            "Better than random in 3 of 4 tests; its strongest words are words the model uses.",
        ),
        ([GOOD] * 2 + [BAD] * 2, "partly", "Better than random in 2 of 4 tests; take it as a hint."),
        ([GOOD] + [BAD] * 3, "no", "Better than random in 1 of 4 tests: do not read it as a reason."),
        ([BAD] * 4, "no", "Not better than random in any of 4 tests: do not read it as a reason."),
        ([-1.0, BAD], "no", "Not better than random in any of 2 tests, worse in 1: do not read it as a reason."),
        ([GOOD], "yes", "Better than random in its only test; its strongest words are words the model uses."),
        ([BAD], "no", "Not better than random in its only test: do not read it as a reason."),
        ([], "open", "Not tested."),
    ],
)
def test_the_sentence_counts_and_concludes(places: list[float], level: str, said: str) -> None:
    names = ["deletion", "insertion", "comprehensiveness", "sufficiency"]
    found = standing(*(verdict(name, place) for name, place in zip(names, places, strict=False)))
    assert found.level == level
    assert found.sentence == said


def test_what_adds_up_or_holds_still_is_shown_and_not_counted() -> None:
    found = standing(verdict("deletion", BAD), verdict("completeness", GOOD), verdict("stability", GOOD))
    assert [v.check for v in found.tests] == ["deletion"]
    assert [v.check for v in found.besides] == ["completeness", "stability"]
    assert found.level == "no"


def sanity(likeness: float, *, head: float = 0.0, part: str = "cascade") -> Verdict:
    random = np.arange(100)[None, :] / 200
    facts, parameters = {"similarity_0": head}, {"part": part}
    return Verdict(
        "m", "randomization", "lower", np.array([likeness]), random, (), parameters, facts=facts, chance="reach"
    )


def test_a_map_that_stays_without_the_weights_is_at_most_a_hint() -> None:
    tests = [verdict(name, GOOD) for name in ("deletion", "insertion")]
    sane, part, whole = (standing(*tests, sanity(likeness)) for likeness in (0.1, 0.6, 0.8))
    assert [found.level for found in (sane, part, whole)] == ["yes", "yes", "partly"]
    assert sane.cautions == ()
    assert "fails its sanity check" in part.cautions[0]
    assert "keeps some of its order (rank correlation 0.60 where unrelated maps have 0.25)" in part.cautions[0]
    assert "stays much the same when the model's weights are random" in whole.sentence
    assert standing(verdict("deletion", BAD), sanity(0.99)).level == "no"
    assert sorted([whole, part, sane], key=lambda found: found.rank) == [sane, part, whole]


def test_a_map_that_a_new_head_does_not_touch_is_not_about_the_label() -> None:
    tests = [verdict(name, GOOD) for name in ("deletion", "insertion")]
    assert standing(*tests, sanity(0.1, head=0.98)).level == "yes"
    for blind in (sanity(0.1, head=1.0), sanity(1.0, part="head")):
        assert standing(*tests, blind).level == "partly"
        assert "it may show what matters, not why this label" in standing(*tests, blind).sentence
    assert standing(*tests, sanity(0.8, part="head")).level == "yes"


def test_a_method_that_shines_only_by_its_own_eraser_is_a_hint() -> None:
    own = [verdict(name, GOOD) for name in ("deletion", "insertion", "comprehensiveness")]
    found = standing(*own, verdict("deletion", BAD, eraser="mask"), eraser="delete")
    assert found.share == 0.75
    assert found.level == "partly"
    assert "only where words are taken away as the method does it" in found.sentence
    assert found.cautions == (
        "same eraser: 3 of 4 tests erase words as it does (delete), which favours it; "
        "deletion by mask does not, and there it is not distinguishable from random",
    )
    assert standing(*own, verdict("deletion", GOOD, eraser="mask"), eraser="delete").level == "yes"
    assert standing(*own, verdict("deletion", BAD, eraser="mask"), eraser="pad").level == "yes"


def test_unsettled_scores_are_at_most_a_hint() -> None:
    found = standing(verdict("deletion", GOOD), warnings=("unconverged: by 5 %",))
    assert found.level == "partly"
    assert "have not settled" in found.sentence
    assert found.cautions == ("unconverged: by 5 %",)


def silent(check: str) -> Verdict:
    return Verdict("m", check, "higher", np.array([1.0]), np.ones((1, 100)))


def test_tests_that_cannot_tell_do_not_count() -> None:
    none = standing(silent("deletion"), silent("insertion"))
    assert none.level == "open"
    assert none.sentence.startswith("No test can tell it from random here: the text is too short")
    few = standing(silent("deletion"), silent("insertion"), verdict("infidelity", GOOD))
    assert few.level == "partly"
    assert few.sentence == "Better than random in the only test that can tell; take it as a hint."
    lost = standing(silent("deletion"), silent("insertion"), verdict("infidelity", BAD))
    assert lost.level == "open"
    assert lost.sentence == "Not better than random in the only test that can tell; the other tests cannot tell."
    assert "Deletion and Insertion cannot tell" in lost.cautions[0]


def test_one_word_cannot_be_tested() -> None:
    card = assay.trust(MODEL, "superb", progress=False)
    assert {standing.level for standing in card.standings} == {"open"}
    assert "a single word" in card.summary


def test_titles_name_an_unusual_eraser_only() -> None:
    assert title_of(verdict("deletion", 0)) == "Deletion"
    assert title_of(verdict("deletion", 0, eraser="mask")) == "Deletion by mask"
    assert title_of(verdict("of_another_package", 0)) == "Of another package by delete"
    assert [listed("a"), listed("ab"), listed("abc")] == ["a", "a and b", "a, b and c"]


# The whole card


def test_when_nothing_can_be_trusted_it_says_so() -> None:
    bad = standing(verdict("deletion", BAD), verdict("insertion", BAD))
    assert TrustCard((bad,)).summary.startswith(
        "None of these maps can be trusted on this text: not better than random"
    )
    hint = standing(verdict("deletion", GOOD), verdict("insertion", BAD))
    assert TrustCard((hint,)).summary.startswith(
        "No method is fully convincing on this text. Leave-one-out comes closest"
    )
    assert TrustCard((standing(),)).summary.startswith("Nothing was tested")
    assert TrustCard((bad,)).best is None
    assert TrustCard((hint,)).to_dict()["use"] is None


def test_warnings_of_all_methods_are_said_once() -> None:
    two = standing(warnings=("both say this",)), standing(warnings=("both say this", "one says this"))
    card = TrustCard(two)
    assert card.notes == ("both say this",)
    assert card.warnings == ("both say this", "Leave-one-out: one says this")


@pytest.mark.parametrize(("chance", "noted"), [(0.995, True), (0.985, False), (0.015, False), (0.004, True)])
def test_near_certain_predictions_are_noted(chance: float, noted: bool) -> None:
    e = standing().first.told(prediction={"a": chance, "b": 1 - chance})
    card = TrustCard((Standing("x", "X", (e,)),))
    assert any(note.startswith("near-certain prediction:") for note in card.notes) == noted
    many = TrustCard((Standing("x", "X", (e, standing().first)),))
    assert any(note.startswith("near-certain prediction in 1 of 2 texts:") for note in many.notes) == noted


def test_truncated_texts_are_noted() -> None:
    e = standing().first.told(unseen=((20, 24), (25, 28)))
    assert TrustCard((Standing("x", "X", (e,)),)).notes[0].startswith("truncated: 2 words lie beyond")
    assert TrustCard((Standing("x", "X", (e, e)),)).notes[0] == "truncated: 2 texts were longer than the model's window"


# Agreement


def told(scores: Sequence[float], **facts: Any) -> TokenScores:
    text = Text.of(" ".join(f"w{i}" for i in range(len(scores))))
    return TokenScores(Case(text, 0), np.array(scores, dtype=float), facts=facts)


def slow_tau(x: Sequence[float], y: Sequence[float]) -> float:
    """Kendall's tau-b from its definition: pairs in order, pairs out of order, and ties."""
    signs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i, j in combinations(range(len(x)), 2)]
    untied = np.sqrt(sum(a != 0 for a, _ in signs) * sum(b != 0 for _, b in signs))
    return float(sum(a * b for a, b in signs) / untied) if untied else float(len(set(x)) == len(set(y)) == 1)


scores = st.lists(st.integers(-4, 4), min_size=2, max_size=12)


@settings(max_examples=150)
@given(scores, st.data())
def test_tau_is_kendalls(x: list[int], data: st.DataObject) -> None:
    y = data.draw(st.lists(st.integers(-4, 4), min_size=len(x), max_size=len(x)))
    assert tau(told(x), told(y)) == pytest.approx(slow_tau(x, y), abs=1e-12)
    sizes = slow_tau(np.abs(x).tolist(), np.abs(y).tolist())
    assert tau(told(x), told(y, signed=False)) == pytest.approx(sizes, abs=1e-12)


def test_the_strongest_words_count_by_size() -> None:
    a, b = told([0.1, -3, 2, 1]), told([5, -3, 0, 1])
    assert strongest(a) == [1, 2, 3]
    assert strongest(b) == [0, 1, 3]
    assert shared(a, b) == pytest.approx(2 / 3)
    assert shared(told([1.0, 2.0]), told([2.0, 1.0])) == 1


def test_agreement_is_the_mean_over_texts_that_have_one() -> None:
    up, down, word = told([1, 2, 3, 4]), told([4, 3, 2, 1]), told([1])
    mine, other = Standing("m", "M", (up, up, word)), Standing("o", "O", (up, down, word))
    assert Agreement.of([mine, other]).tau.tolist() == [[1, 0], [0, 1]]
    assert Agreement.of([mine, other]).top[0, 1] == pytest.approx((1 + 2 / 3 + 1) / 3)
    one = Agreement.of([Standing("m", "M", (word,)), Standing("o", "O", (word,))])
    assert one.to_dict()["tau"] == [[1, None], [None, 1]]


def test_the_accord_names_the_strongest_words() -> None:
    a, b, c = (Standing(n, n.upper(), (told(s),)) for n, s in [("a", [9, 1, 2]), ("b", [-9, 1, 2]), ("c", [0, 9, 2])])
    assert TrustCard((a, b, c)).accord == "A and B find “w0” the strongest word; C: “w1”."
    assert TrustCard((a, b)).accord == "All find “w0” the strongest word."
    many = [Standing(t.name, t.title, t.explanations * 2) for t in (a, b, c)]
    assert TrustCard(tuple(many)).accord == "B and C agree most (τ 0.33), A and C least (τ −1.00)."
