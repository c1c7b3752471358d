"""What people answered: what is refused, what is counted, and that chance does not come out as a finding."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations
from math import comb
from pathlib import Path

import numpy as np
import pytest

from assay.errors import AssayError, BadInput, UnknownName
from assay.statistics.exact import Share, against_half, fisher
from assay.workflows.people import Answer, Collected, Key, Scores, Tasks, collect, lists, read_answers, score, tasks
from assay.workflows.people.free_answers import f1
from assay.workflows.people.krippendorff import alpha
from assay.workflows.people.results import majority
from assay.workflows.people.tasks import CANNOT_TELL
from reduced_texts import LABELS, examples

MADE = tasks(examples(60))
Say = Callable[[Key, int], str]


def answered(made: Tasks, say: Say, people: int = 1) -> Collected:
    """Everybody answers everything."""
    answers = [Answer(key.item, f"p{i}", say(key, i)) for key in made.keys for i in range(people)]
    return collect(made.keys, answers)


def said(made: Tasks, say: Say, people: int = 1) -> Scores:
    return score(answered(made, say, people))


# --- agreement --------------------------------------------------------------------------------------------------------

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C: four observers, missing answers, nominal.
FOUR = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]


def test_alpha_is_that_of_the_published_examples() -> None:
    units = [[row[i] for row in FOUR if row[i] != "."] for i in range(12)]
    assert alpha(units) == pytest.approx(0.743, abs=5e-4)
    meg, owen = "0100000010", "1110010000"  # section A: two observers, two values
    assert alpha(list(zip(meg, owen, strict=True))) == pytest.approx(0.095, abs=5e-4)


def test_alpha_is_one_less_observed_over_expected_disagreement() -> None:
    rng = np.random.default_rng(2)
    units = [rng.integers(3, size=rng.integers(1, 5)).tolist() for _ in range(30)]
    units = [unit for unit in units if len(unit) > 1]
    values = [v for unit in units for v in unit]
    n = len(values)
    observed = sum(sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units)
    expected = sum(a != b for a, b in permutations(values, 2)) / (n - 1)
    assert alpha(units) == pytest.approx(1 - observed / expected)


def test_alpha_of_nothing_to_compare_is_none() -> None:
    assert alpha([]) is None
    assert alpha([["x"], ["y"]]) is None
    assert alpha([["x", "x"], ["x", "x"]]) is None
    assert alpha([["x", "x"], ["y", "y"]]) == 1


# --- shares and tests -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "of"), [(0, 20), (3, 20), (10, 20), (20, 20), (113, 200)])
def test_an_exact_interval_is_where_each_tail_is_one_fortieth(count: int, of: int) -> None:
    def tail(p: float, counts: range) -> float:
        return sum(comb(of, k) * p**k * (1 - p) ** (of - k) for k in counts)

    share = Share.exact(count, of)
    assert share.value == count / of
    if count:
        assert tail(share.low, range(count, of + 1)) == pytest.approx(0.025, abs=1e-6)
    else:
        assert share.low == 0
    if count < of:
        assert tail(share.high, range(count + 1)) == pytest.approx(0.025, abs=1e-6)
    else:
        assert share.high == 1


def test_exact_tests_are_the_sums_of_the_textbook() -> None:
    n, k = 20, 15
    assert against_half(Share.exact(k, n)) == pytest.approx(2 * sum(comb(n, i) for i in range(k, n + 1)) / 2**n)
    for count in range(22):
        tail = sum(comb(21, i) for i in range(min(count, 21 - count) + 1)) / 2**21
        assert against_half(Share.exact(count, 21)) == pytest.approx(min(1, 2 * tail))
    # Fisher's lady: four cups of each kind, three of each found.
    assert fisher(Share.exact(3, 4), Share.exact(1, 4)) == pytest.approx(2 * 17 / 70)
    assert against_half(Share.exact(0, 0)) is None
    assert fisher(Share.exact(0, 0), Share.exact(1, 4)) is None


# --- what is refused --------------------------------------------------------------------------------------------------


def test_answers_that_cannot_be_counted_are_refused() -> None:
    key = MADE.keys[0]
    with pytest.raises(UnknownName, match="'nothing'"):
        collect(MADE.keys, [Answer("nothing", "p", "A")])
    with pytest.raises(BadInput, match=f"p answered the item {key.item} twice"):
        collect(MADE.keys, [Answer(key.item, "p", key.label)] * 2)
    with pytest.raises(BadInput, match="'maybe'"):
        collect(MADE.keys, [Answer(key.item, "p", "maybe")])
    with pytest.raises(BadInput, match="no answer to count"):
        score(collect(MADE.keys, []))
    with pytest.raises(BadInput, match="by items or by answers"):
        score(answered(MADE, lambda key, i: "cannot tell"), by="people")


def test_empty_answers_are_missing_ones() -> None:
    key = MADE.keys[0]
    assert collect(MADE.keys, [Answer(key.item, "p", " ")]).missing == len(MADE.keys)
    wanted = lists(MADE, 3)
    every = [Answer(a.item, a.annotator, "cannot tell") for a in wanted]
    assert collect(MADE.keys, every, wanted).missing == 0
    blank = [replace(every[0], answer=""), *every[2:]]
    found = collect(MADE.keys, blank, wanted)
    assert (found.missing, found.unasked, found.seen_twice) == (2, 0, 0)
    assert "2 answers are missing" in score(found).warnings[0]


def test_answers_beyond_the_lists_are_counted() -> None:
    wanted = lists(MADE, 3)
    mine = next(a for a in wanted if a.annotator == "P1")
    key = next(key for key in MADE.keys if key.item == mine.item)
    other = next(k for k in MADE.keys if k.example == key.example and k.item != key.item)
    found = collect(MADE.keys, [Answer(k.item, "P1", "cannot tell") for k in (key, other)], wanted)
    assert (found.missing, found.unasked, found.seen_twice) == (len(wanted) - 1, 1, 1)
    assert len(score(found).warnings) == 3


@pytest.mark.parametrize("spelling", ["Cannot tell", "cannot_tell", " TIE ", "can't  tell"])
def test_ties_may_be_spelled_in_several_ways(spelling: str) -> None:
    found = said(MADE, lambda key, i: spelling).overall
    assert found.undecided == {"original": 60, "reduced": 60, "preference": 60}
    assert (found.original.count, found.original.of) == (0, 60)
    assert (found.preferred.of, found.p_preferred) == (0, None)


def test_labels_are_read_in_small_letters_too() -> None:
    found = said(MADE, lambda key, i: (key.reduced or key.label).upper().replace(" ", "_")).overall
    assert (found.original.count, found.reduced.count, found.preferred.count) == (60, 60, 60)


# --- what is counted --------------------------------------------------------------------------------------------------


def test_accuracy_and_preference_label_by_label() -> None:
    def say(key: Key, i: int) -> str:
        if key.role == "preference":
            return key.reduced if key.label == "neutral" else CANNOT_TELL
        return key.label if key.role == "original" or key.label == "neutral" else CANNOT_TELL

    found = said(MADE, say)
    assert [line.label for line in found.lines] == [*sorted(LABELS), "all"]
    neutral = found.lines[2]
    assert (neutral.reduced.value, neutral.p_accuracy) == (1, pytest.approx(1))
    assert neutral.p_preferred == pytest.approx(2 * 0.5**20)
    assert (found.overall.original.value, found.overall.reduced.count, found.overall.reduced.of) == (1, 20, 60)
    assert found.overall.undecided == {"original": 0, "reduced": 40, "preference": 40}
    assert found.overall.p_accuracy is not None
    assert found.overall.p_accuracy < 1e-10
    assert (found.overall.preferred.count, found.overall.preferred.of) == (20, 20)
    assert json.loads(json.dumps(found.to_dict()))["lines"][-1]["original"]["value"] == 1


def test_several_answers_to_an_item_count_once_unless_asked_otherwise() -> None:
    collected = answered(MADE, lambda key, i: (key.reduced or key.label) if i < 2 else CANNOT_TELL, people=3)
    by_items, by_answers = score(collected), score(collected, by="answers")
    assert (by_items.overall.preferred.count, by_items.overall.preferred.of) == (60, 60)
    assert (by_answers.overall.preferred.count, by_answers.overall.undecided["preference"]) == (120, 60)
    assert (by_answers.overall.original.count, by_answers.overall.original.of) == (120, 180)
    assert (by_items.answers, by_items.annotators, by_items.items) == (540, 3, 180)


def test_the_majority_and_its_draws() -> None:
    assert majority(["x"]) == "x"
    assert majority(["x", "y", "x"]) == "x"
    assert majority(["x", "y"]) == CANNOT_TELL
    assert majority(["x", "x", "y", "y", "z"]) == CANNOT_TELL


def test_agreement_is_told_for_each_role() -> None:
    rng = np.random.default_rng(0)
    found = said(MADE, lambda key, i: key.label if key.role == "original" else str(rng.choice(key.choices)), people=4)
    assert found.agreement["original"] == 1
    assert abs(found.agreement["reduced"] or 1) < 0.15
    assert said(MADE, lambda key, i: key.choices[0]).agreement == dict.fromkeys(("original", "reduced", "preference"))


# --- chance -----------------------------------------------------------------------------------------------------------


def guessing(rng: np.random.Generator, ties: float) -> Say:
    def say(key: Key, i: int) -> str:
        return CANNOT_TELL if rng.random() < ties else str(key.choices[rng.integers(len(key.choices) - 1)])

    return say


@pytest.mark.parametrize(("people", "ties"), [(1, 0.0), (3, 0.2)])
def test_people_who_guess_prefer_nothing_in_at_least_95_of_100_studies(people: int, ties: float) -> None:
    rng = np.random.default_rng(people)
    only = [key for key in MADE.keys if key.role == "preference"]
    made = replace(MADE, keys=tuple(only))
    lines = [said(made, guessing(rng, ties), people).overall for _ in range(200)]
    assert np.mean([line.p_preferred is not None and line.p_preferred < 0.05 for line in lines]) <= 0.05
    assert np.mean([not line.preferred.low <= 0.5 <= line.preferred.high for line in lines]) <= 0.05


def test_people_who_guess_are_not_found_better_on_whole_texts() -> None:
    rng = np.random.default_rng(4)
    made = replace(MADE, keys=tuple(key for key in MADE.keys if key.role != "preference"))
    found = [said(made, guessing(rng, 0.0)).overall.p_accuracy for _ in range(200)]
    assert np.mean([p is not None and p < 0.05 for p in found]) <= 0.05


def test_somebody_who_always_says_a_prefers_nothing() -> None:
    found = said(MADE, lambda key, i: "A" if key.role == "preference" else CANNOT_TELL).overall
    assert found.preferred.value == 0.5


def test_a_real_preference_is_found() -> None:
    rng = np.random.default_rng(6)

    def say(key: Key, i: int) -> str:
        other = {"A": "B", "B": "A"}.get(key.reduced, CANNOT_TELL)
        return key.reduced if key.reduced and rng.random() < 0.75 else other

    found = said(MADE, say).overall
    assert found.p_preferred is not None
    assert found.p_preferred < 0.05
    assert found.preferred.low > 0.5


# --- own words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("The Panthers!", "panthers", 1), ("Santa Clara Marriott", "the Marriott", 0.5), ("x", "y", 0), ("the", "a", 1)],
)
def test_f1_is_that_of_squad(one: str, other: str, expected: float) -> None:
    assert f1(one, other) == pytest.approx(expected)


def test_own_words_are_right_when_the_words_are_and_have_an_f1() -> None:
    keys = [Key(f"i{n}", "original" if n % 2 else "reduced", n, "Santa Clara Marriott") for n in range(10)]
    answers = [Answer(k.item, "p", "the santa clara marriott." if k.role == "original" else "Marriott") for k in keys]
    found = score(collect(keys, answers))
    assert [line.label for line in found.lines] == ["all"]
    assert (found.overall.original.value, found.overall.reduced.value) == (1, 0)
    assert found.overall.f1 == {"original": 1, "reduced": pytest.approx(0.5)}
    unsure = score(collect(keys, [Answer(k.item, "p", "Cannot tell") for k in keys])).overall
    assert unsure.undecided["reduced"] == 5
    assert unsure.f1["reduced"] == 0


# --- files ------------------------------------------------------------------------------------------------------------


def written(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_answers_are_read_from_csv_and_jsonl_alike(tmp_path: Path) -> None:
    expected = [Answer("x1", "p", "A"), Answer("x2", "7", "")]
    table = written(tmp_path / "a.csv", ["time,item,annotator,answer", "3,x1,p, A ", "3,x2,7,"])
    lines = [{"item": "x1", "annotator": "p", "answer": "A"}, {"item": "x2", "annotator": 7, "answer": None}]
    jsonl = written(tmp_path / "a.jsonl", list(map(json.dumps, lines)))
    assert read_answers([table]) == read_answers([jsonl]) == expected
    assert read_answers([table, jsonl]) == expected * 2


@pytest.mark.parametrize(
    ("name", "lines", "match"),
    [
        ("a.csv", ["item,annotator", "x,p"], "no 'answer'"),
        ("a.csv", ["item,annotator,answer", ",p,A"], "row 1 does not say"),
        ("a.jsonl", ["{"], "line 1 is not JSON"),
        ("a.xls", ["x"], "is a spreadsheet"),
    ],
)
def test_files_that_hold_no_answers_are_refused(tmp_path: Path, name: str, lines: list[str], match: str) -> None:
    with pytest.raises(AssayError, match=match):
        read_answers([written(tmp_path / name, lines)])
