"""The items for people: what they show, what they hide, how they are balanced, and who answers them."""

from __future__ import annotations

import csv
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from assay.errors import AssayError, BadInput
from assay.text.text import Text
from assay.workflows.people import PeopleStudy, Tasks, TaskText, lists, tasks
from assay.workflows.people.random_words import another, random_versions
from assay.workflows.people.sample import balanced, first_of_each, rank
from assay.workflows.people.tasks import CANNOT_TELL, ROLES
from reduced_texts import LABELS, examples, reduced, some


def of_role(made: Tasks, role: str) -> list[Any]:
    keys = {key.item: key for key in made.keys if key.role == role}
    return [(item, keys[item.id]) for item in made.items if item.id in keys]


def test_every_text_has_one_item_of_each_role_that_shows_what_it_should() -> None:
    given = examples(12)
    made = tasks(given)
    by_row = {one.row: one for one in given}
    assert len(made.items) == len({item.id for item in made.items}) == 36
    for item, key in of_role(made, "original"):
        assert item.shown == by_row[key.example].whole
        assert item.choices == (*LABELS, CANNOT_TELL)
    for item, key in of_role(made, "reduced"):
        assert item.shown == by_row[key.example].short
        assert item.shown["premise"] == by_row[key.example].whole["premise"]
    for item, key in of_role(made, "preference"):
        one = by_row[key.example]
        versions = {"A": item.a, "B": item.b}
        assert item.shown == one.whole
        assert versions.pop(key.reduced) == {"hypothesis": one.short["hypothesis"]}
        (other,) = versions.values()
        assert len(other["hypothesis"].split()) == one.length
        assert other["hypothesis"] != one.short["hypothesis"]


def test_the_random_version_keeps_words_in_their_order() -> None:
    text = Text.of(("p", "a b c d e f"), focus=["hypothesis"])
    for version in random_versions(text, 3, 50):
        words = version.words
        assert version.strings[0] == "p"
        assert len(words) == 3
        assert list(words) == sorted(words)


def test_every_set_of_words_is_equally_likely() -> None:
    text = Text.of("a b c d")
    seen = Counter(version.strings[0] for version in random_versions(text, 2, 6000))
    assert len(seen) == 6
    expected = 1000
    chi = sum((count - expected) ** 2 / expected for count in seen.values())
    assert chi < 20.5  # 99.9 % of the chi-square distribution with 5 degrees of freedom


def test_draws_depend_on_text_length_and_seed_alone() -> None:
    text = Text.of("a b c d e f g h")
    first = [version.strings for version in random_versions(text, 3, 5, seed=1)]
    assert first == [version.strings for version in random_versions(text, 3, 7, seed=1)][:5]
    assert first != [version.strings for version in random_versions(text, 3, 5, seed=2)]
    assert [v.strings for v in random_versions(text, 8, 2)] == [text.strings] * 2
    with pytest.raises(BadInput, match="cannot be shortened to 9"):
        random_versions(text, 9, 1)


def test_a_random_version_never_reads_like_the_reduced_one() -> None:
    assert another(Text.of("so so so"), 2, {("so so",)}) is None
    for seed in range(20):
        found = another(Text.of("so good so"), 1, {("so",)}, seed)
        assert found is not None
        assert found.strings == ("good",)


def test_a_text_that_was_not_reduced_has_no_preference_item_and_this_is_said() -> None:
    whole = TaskText.of(1, reduced(("a man", "he sleeps")))
    made = tasks([whole, *examples(3)[1:]])
    assert Counter(key.role for key in made.keys) == {"original": 3, "reduced": 3, "preference": 2}
    assert made.notes == ("1 of 3 texts has no second version of the reduced length, so no preference item.",)


@pytest.mark.parametrize("seed", range(5))
def test_the_reduced_version_is_a_in_half_of_the_items_of_every_label(seed: int) -> None:
    made = tasks(examples(61, seed), seed)
    letters = [(key.label, key.reduced) for key in made.keys if key.role == "preference"]
    assert abs(Counter(letter for _, letter in letters)["A"] - len(letters) / 2) <= 0.5
    for label in LABELS:
        of = Counter(letter for name, letter in letters if name == label)
        assert abs(of["A"] - of["B"]) <= 2


def test_order_of_a_and_b_differs_from_seed_to_seed_and_within_a_study() -> None:
    def letters(seed: int) -> str:
        return "".join(key.reduced for key in tasks(examples(30), seed).keys if key.role == "preference")

    assert letters(0) == letters(0)
    assert len({letters(seed) for seed in range(5)}) == 5
    assert "AA" in letters(0)
    assert "BB" in letters(0)


def test_ids_of_answer_items_do_not_depend_on_company_order_or_seed() -> None:
    given = examples(9)
    ids = {(key.example, key.role): key.item for key in tasks(given).keys}
    other = {(key.example, key.role): key.item for key in tasks(given[::-1][:4], seed=3).keys}
    assert {name for name in other if other[name] != ids[name]} <= {name for name in other if name[1] == "preference"}


def test_two_texts_reduced_to_the_same_words_are_two_items() -> None:
    pairs = [("a man", "he sleeps now"), ("a man", "he runs now")]
    made = tasks([TaskText.of(i, reduced(pair, (0,))) for i, pair in enumerate(pairs)])
    assert len({item.id for item in made.items}) == len(made.items) == 6
    with pytest.raises(BadInput, match="twice"):
        tasks([TaskText.of(i, reduced(pairs[0], (0,))) for i in range(2)])


def test_the_order_of_the_public_items_says_nothing() -> None:
    made = tasks(examples(60))
    roles = {key.item: key.role for key in made.keys}
    answers = [roles[item.id] for item in made.items if item.task == "answer"]
    changes = sum(one != other for one, other in pairwise(answers))
    assert 40 <= changes <= 80


@pytest.mark.parametrize("design", ["rotated", "groups"])
@pytest.mark.parametrize("annotators", [1, 2, 3, 4, 7, 12])
@pytest.mark.parametrize("each", [None, 1, 2])
def test_lists_show_nobody_a_text_twice_and_are_balanced(design: str, annotators: int, each: int | None) -> None:
    made = tasks(examples(36))
    if design == "groups" and annotators < 3:
        with pytest.raises(BadInput, match="3 or more"):
            lists(made, annotators, design=design)
        return
    keys = {key.item: key for key in made.keys}
    found = lists(made, annotators, design=design, each=each)
    loads = {}
    for who in {a.annotator for a in found}:
        mine = [keys[a.item] for a in found if a.annotator == who]
        assert len({key.example for key in mine}) == len(mine)
        by_label = Counter(key.label for key in mine)
        assert max(by_label.values()) - min(by_label[label] for label in LABELS) <= 3
        loads[who] = Counter(key.role for key in mine)
        roles = [key.role == "preference" for key in mine]
        assert roles == sorted(roles)
        if design == "groups":
            assert len(loads[who]) == 1
        elif len(mine) >= 9:
            assert max(loads[who].values()) - min(loads[who][role] for role in ROLES) <= 3
    groups = [[f"P{i:0{len(str(annotators))}}" for i in range(g + 1, annotators + 1, 3)] for g in range(3)]
    answered = Counter(a.item for a in found)
    assert max(answered.values()) <= (each or annotators)
    for group in groups:
        sizes = [sum(loads.get(who, {}).values()) for who in group]
        assert not sizes or max(sizes) - min(sizes) <= 3
    if annotators >= 3:
        assert len(answered) == len(made.items)


def test_lists_are_seeded_and_ordered_differently_for_everybody() -> None:
    made = tasks(examples(30))
    found = lists(made, 6, design="groups")
    assert found == lists(made, 6, design="groups")
    first, fourth = ([a.item for a in found if a.annotator == who] for who in ("P1", "P4"))
    assert set(first) == set(fourth)
    assert first != fourth
    for bad in ({"annotators": 0}, {"annotators": 3, "each": 0}, {"annotators": 3, "design": "x"}):
        with pytest.raises(BadInput):
            lists(made, **bad)  # type: ignore[arg-type]


def test_the_sample_is_balanced_and_does_not_depend_on_the_other_texts() -> None:
    labels = {i: LABELS[min(i // 10, 2)] for i in range(100)}
    ranks = {i: rank(0, (str(i),)) for i in labels}
    chosen = balanced(labels, ranks, 60)
    assert Counter(labels[i] for i in chosen) == {"entailment": 10, "neutral": 10, "contradiction": 40}
    few = balanced(labels, ranks, 12)
    assert Counter(labels[i] for i in few) == dict.fromkeys(LABELS, 4)
    without = {i: label for i, label in labels.items() if i in few or i % 2}
    assert balanced(without, ranks, 12) == few
    assert balanced(labels, {i: rank(1, (str(i),)) for i in labels}, 12) != few
    assert first_of_each([("a",), ("b",), ("a",), ("c",)]) == [0, 1, 3]


def test_public_files_hold_neither_key_nor_label(tmp_path: Path) -> None:
    made = tasks([TaskText.of(i, e, gold="SECRET") for i, e in enumerate(some(9), start=1)])
    study = PeopleStudy(tmp_path / "study")
    study.write(made, lists(made, 3))
    assert study.keys() == list(made.keys)
    assert study.assignments() == list(lists(made, 3))
    for path in (tmp_path / "study" / "public").iterdir():
        content = path.read_text(encoding="utf-8")
        assert not [word for word in ("SECRET", "reduced", "original", "role", "random") if word in content], path
    items = [json.loads(line) for line in (study.place / "public/items.jsonl").read_text("utf-8").splitlines()]
    assert {frozenset(item) for item in items} == {
        frozenset(["item", "task", "question", "shown", "choices"]),
        frozenset(["item", "task", "question", "shown", "A", "B", "choices"]),
    }
    with (study.place / "public/items.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["item"] for row in rows] == [item["item"] for item in items]
    assert [row["shown.hypothesis"] for row in rows] == [item["shown"]["hypothesis"] for item in items]
    assert [row["A.hypothesis"] for row in rows] == [item.get("A", {}).get("hypothesis", "") for item in items]
    with pytest.raises(AssayError, match="holds a study already"):
        study.write(made, ())


def test_strings_of_any_kind_come_back_from_both_files(tmp_path: Path) -> None:
    odd = 'a "quoted", text\nwith لغة and 👩‍👩‍👧 = 1\u2028'
    made = tasks([TaskText.of(1, reduced((odd, "ein , zwei , drei"), (1,)))])
    study = PeopleStudy(tmp_path)
    study.write(made, ())
    with (tmp_path / "public/items.csv").open(encoding="utf-8", newline="") as stream:
        assert {row["shown.premise"] for row in csv.DictReader(stream)} == {odd}
    lines = (tmp_path / "public/items.jsonl").read_text("utf-8").split("\n")[:-1]
    assert {json.loads(line)["shown"]["premise"] for line in lines} == {odd}


def test_without_texts_there_is_one_sentence() -> None:
    with pytest.raises(BadInput, match="no text"):
        tasks([])


def test_the_model_answer_in_a_note_is_never_shown() -> None:
    from assay.explanations.about import About
    from assay.explanations.case import Case
    from assay.explanations.edits import Edit, Edits
    from assay.text.text import Field

    asked = Text.of({"question": "who won it ?", "context": "the Panthers won"}, focus=["question"])
    noted = Text((*asked.fields, Field("answer", "4:12 Panthers", (), "note")), asked.focus)
    told = {"another answer": 0.2, "Panthers": 0.8}
    path = (Edit(asked.strings, told, (), (0, 1, 2, 3)), Edit(("won", asked.strings[1]), told, (), (1,)))
    about = About(method="input_reduction", labels=tuple(told))
    one = TaskText.of(1, Edits(Case(noted, 1), path, path[-1:], prediction=told, about=about))
    assert (one.label, one.choices, one.length) == ("Panthers", (), 1)
    assert one.short == {"question": "won", "context": "the Panthers won"}
    made = tasks([one])
    assert not any("4:12" in repr(item) for item in made.items)
