"""Generated scenes: answers read off the names again, balance, and pixels."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from assay.errors import BadInput
from assay_studies.models.scenes import images as scenes

COLORS = {"r": "red", "g": "green", "b": "blue", "y": "yellow"}
SHAPES = {"c": "circle", "s": "square", "t": "triangle"}


def things(name: str) -> list[tuple[str, str]]:
    """What stands in a scene, from its letters."""
    letters = name.removeprefix("scene:")
    pairs = [letters[i : i + 2] for i in range(0, 18, 2)]
    return [(COLORS[c], SHAPES[s]) for c, s in pairs if c != "-"]


def answer(question: str, name: str) -> str:
    words, there = question.split(), things(name)
    match words[0]:
        case "what":
            (color,) = (color for color, shape in there if shape == words[4])
            return color
        case "is":
            return "yes" if (words[3], words[4]) in there else "no"
        case _:
            return str(sum(f"{shape}s" == words[2] for _, shape in there))


def test_every_answer_is_true() -> None:
    for example in scenes.questions(720, seed=3):
        assert example.label == answer(*example.strings)
        assert 1 <= len(things(example.strings[1])) <= 6


def test_answers_and_words_are_balanced() -> None:
    asked = scenes.questions(144, seed=1)
    assert Counter(one.strings[0].split()[0] for one in asked) == {"what": 48, "is": 48, "how": 48}
    per_answer = Counter((one.strings[0], one.label) for one in asked)
    for color, shape in product(COLORS.values(), SHAPES.values()):
        assert per_answer[f"what color is the {shape} ?", color] == 4
        assert per_answer[f"is there a {color} {shape} ?", "yes"] == 2
        assert per_answer[f"is there a {color} {shape} ?", "no"] == 2
    for shape, count in product(SHAPES.values(), "0123"):
        assert per_answer[f"how many {shape}s are there ?", count] == 4


def test_yes_and_no_cannot_be_told_by_color_or_shape_alone() -> None:
    asked = [one for one in scenes.questions(2160) if one.strings[0].startswith("is")]
    for part in (0, 1):
        for label in ("yes", "no"):
            rows = [one for one in asked if one.label == label]
            word = [one.strings[0].split()[3 + part] for one in rows]
            other = [
                any(
                    thing[part] == w and thing != tuple(one.strings[0].split()[3:5]) for thing in things(one.strings[1])
                )
                for one, w in zip(rows, word, strict=True)
            ]
            assert 0.6 < np.mean(other) < 0.95


def test_a_seed_says_all_and_more_questions_begin_alike() -> None:
    assert scenes.questions(30) == scenes.questions(60)[:30]
    assert scenes.questions(30) != scenes.questions(30, seed=1)


def test_pixels_are_where_the_name_says() -> None:
    scene = scenes.Scene.read("scene:rs" + "--" * 7 + "yc")
    image = scene.pixels()
    assert image.shape == (36, 36, 3)
    assert image.dtype == np.uint8
    assert (image[1:11, 1:11] == scenes.COLORS["red"]).all()  # a square with one free pixel around it
    assert (image[12:24] == 245).all()
    yellow = (image == scenes.COLORS["yellow"]).all(axis=-1)
    assert yellow[24:, 24:].sum() == yellow.sum() > 0
    assert abs(int(yellow.sum()) - np.pi * 25) < 8  # a circle of radius 5
    assert scene.name == "scene:rs" + "--" * 7 + "yc"


def test_shapes_differ_and_fit() -> None:
    covered = {s: (scenes.Scene.read(f"scene:b{s}" + "--" * 8).pixels() != 245).any(axis=-1)[:12, :12] for s in "cst"}
    assert covered["s"].sum() == 100
    assert covered["t"].sum() < covered["c"].sum() < covered["s"].sum()
    assert not any(mask[0].any() or mask[:, 0].any() for mask in covered.values())


@pytest.mark.parametrize("name", ["scene:", "scene:rc", "scene:" + "rx" * 9, "scene:" + "--" * 10, "rc"])
def test_names_that_spell_nothing(name: str) -> None:
    with pytest.raises(BadInput, match="spells no scene"):
        scenes.Scene.read(name)


def test_no_questions() -> None:
    with pytest.raises(BadInput, match="1 or more"):
        scenes.questions(0)
