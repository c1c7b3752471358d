"""Word intrusion for people: planted dimensions give their intruders away, to those who look, and to them alone."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import cli
from assay.errors import BadInput
from assay.explanations.loadings import Loadings
from assay.explanations.sample_explanation import SampleId
from assay.statistics.exact import fisher
from assay.workflows.people import Tasks, collect, intrusion_scores, intrusion_tasks, is_intrusion, lists_of_all
from assay.workflows.people.answers import Answer
from assay.workflows.people.intrusion import VERSIONS

GROUPS, EACH = 8, 10


def planted() -> Loadings:
    """Eight groups of words, each the only ones with much of a dimension; turned, every dimension mixes all groups."""
    rng = np.random.default_rng(0)
    words = tuple(f"{'abcdefgh'[group]}{i}" for group in range(GROUPS) for i in range(EACH))
    loadings = rng.normal(0, 0.05, (len(words), GROUPS))
    loadings[np.arange(len(words)), np.repeat(np.arange(GROUPS), EACH)] += 1 + rng.random(len(words))
    rotation, _ = np.linalg.qr(rng.normal(size=(GROUPS, GROUPS)))
    return Loadings(SampleId("none", "0" * 32, 0), words, loadings, rotation)


def answered(tasks: Tasks, looks: bool, person: str = "P1") -> list[Answer]:
    """Who looks names the one word that is not of the group of the five others; else, or who does not look: any."""
    rng, found = np.random.default_rng(1), []
    for item in tasks.items:
        words = item.choices[:-1]
        groups = [word[0] for word in words]
        alone = [word for word in words if groups.count(word[0]) == 1 and len(set(groups)) == 2]
        known = alone[0] if looks and alone else words[int(rng.integers(len(words)))]
        found.append(Answer(item.id, person, known))
    return found


def test_items_show_six_words_and_not_where_they_are_from() -> None:
    made = intrusion_tasks(planted(), GROUPS, seed=3)
    keys = {key.item: key for key in made.keys}
    assert len(made.items) == len(keys) == GROUPS * len(VERSIONS)
    assert is_intrusion(made.keys)
    for item in made.items:
        assert len(set(item.choices[:-1])) == 6
        assert item.choices[-1] == "cannot tell"
        assert keys[item.id].label in item.choices[:-1]
    rotated = [keys[item.id] for item in made.items if keys[item.id].role == "rotated"]
    for key in rotated:
        groups = [word[0] for word in key.choices[:-1]]
        assert groups.count(key.label[0]) == 1
        assert len(set(groups)) == 2
    places = [key.choices.index(key.label) for key in made.keys]
    assert len(set(places)) > 3  # the intruder may stand anywhere
    assert made == intrusion_tasks(planted(), GROUPS, seed=3)


def test_who_looks_finds_them_and_who_guesses_does_not() -> None:
    made = intrusion_tasks(planted(), GROUPS)
    found = intrusion_scores(collect(made.keys, answered(made, looks=True)))
    rotated, before, random = found.lines
    assert (rotated.version, rotated.found.count, rotated.found.of) == ("rotated", GROUPS, GROUPS)
    assert rotated.p_chance == pytest.approx((1 / 6) ** GROUPS)
    assert rotated.p_rotated is None
    assert max(before.found.count, random.found.count) < GROUPS
    assert random.p_rotated == pytest.approx(fisher(rotated.found, random.found))
    guessed = intrusion_scores(collect(made.keys, answered(made, looks=False))).lines[0]
    assert guessed.found.count < 5
    assert guessed.p_chance is not None
    assert guessed.p_chance > 0.01
    assert json.loads(json.dumps(found.to_dict()))["lines"][0]["found"]["value"] == 1.0


def test_items_count_once_and_people_who_agree_say_so() -> None:
    made = intrusion_tasks(planted(), GROUPS)
    people = [*answered(made, True, "P1"), *answered(made, True, "P2")]
    assert intrusion_scores(collect(made.keys, people)).lines[0].found.of == GROUPS
    both = intrusion_scores(collect(made.keys, people), by="answers").lines[0]
    assert (both.found.of, both.agreement) == (2 * GROUPS, pytest.approx(1))
    with pytest.raises(BadInput, match="no answer"):
        intrusion_scores(collect(made.keys, []))


def test_everybody_answers_everything_or_so_many_each() -> None:
    made = intrusion_tasks(planted(), 4)
    assert len(lists_of_all(made, 3)) == 3 * len(made.items)
    each = lists_of_all(made, 3, each=1)
    assert len(each) == len({one.item for one in each}) == len(made.items)
    assert {sum(one.annotator == name for one in each) for name in ("P1", "P2", "P3")} == {4}


def test_too_few_words_are_refused() -> None:
    e = planted()
    with pytest.raises(BadInput, match="too few for word intrusion"):
        intrusion_tasks(e.told(words=e.words[:10], loadings=e.loadings[:10]))


def test_from_the_shell_and_back(tmp_path: Path, capsys: Any) -> None:
    out = str(tmp_path / "study")
    command = ["people", "export", "--method", "rotation", "--model", "mlm", "-p", "most=120", "-p", "dimensions=6"]
    assert cli.main([*command, "--examples", "4", "--annotators", "2", "--out", out, "-q"]) == 0
    items = [json.loads(line) for line in (tmp_path / "study/public/items.jsonl").read_text().splitlines()]
    assert len(items) == 12
    assert set(items[0]) == {"item", "task", "question", "shown", "choices"}
    with (tmp_path / "answers.csv").open("w", newline="") as file:
        rows = [{"item": one["item"], "annotator": "P1", "answer": one["choices"][0]} for one in items]
        writer = csv.DictWriter(file, ["item", "annotator", "answer"])
        writer.writeheader()
        writer.writerows(rows)
    capsys.readouterr()
    assert cli.main(["people", "score", out, str(tmp_path / "answers.csv")]) == 0
    shown = capsys.readouterr().out
    assert "unrotated" in shown
    assert "12 answers are missing" in shown  # of the other person
    assert "more than one role" not in shown
    assert cli.main(["people", "export", "--out", str(tmp_path / "other")]) == 2
    assert "--file F" in capsys.readouterr().err
    assert cli.main(["people", "export", "--method", "lime", "--out", str(tmp_path / "other")]) == 2
