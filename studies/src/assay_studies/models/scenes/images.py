"""Scenes: coloured shapes on a small grid, and questions about them whose answers are known.

    what color is the circle ?        red, green, blue, yellow      exactly one circle is there
    is there a red square ?           yes, no                       either way, red things and squares may be there
    how many circles are there ?      0, 1, 2, 3

A scene is spelled by its name, two letters for each cell of the grid from left to right and from the top down, the
colour and the shape: `scene:rc----bs--gt------` has a red circle in its first cell. So an image needs no file, and is
the same everywhere. In every 72 questions each kind, within it each answer, and the words of the question whatever the
answer come equally often: no question can be answered without its image.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from assay.errors import BadInput
from assay.models.transformers.images import Pixels
from assay.text.example import Example

Rng: TypeAlias = np.random.Generator

GRID, CELL = 3, 12  # cells in a row, pixels along the side of a cell
PREFIX = "scene:"
COLORS: Mapping[str, tuple[int, int, int]] = {
    "red": (220, 40, 40),
    "green": (40, 170, 70),
    "blue": (50, 80, 220),
    "yellow": (235, 205, 40),
}
SHAPES = ("circle", "square", "triangle")
ANSWERS = ("red", "green", "blue", "yellow", "yes", "no", "0", "1", "2", "3")
_EMPTY = "--"
_PAPER = 245
_MOST = 5  # things in a scene


class Thing(NamedTuple):
    """A coloured shape."""

    color: str
    shape: str

    @property
    def letters(self) -> str:
        return self.color[0] + self.shape[0]


_THINGS = tuple(Thing(*pair) for pair in product(COLORS, SHAPES))
_SPELLED = {thing.letters: thing for thing in _THINGS}


@dataclass(frozen=True)
class Scene:
    """What stands in each cell of the grid."""

    cells: tuple[Thing | None, ...]

    @classmethod
    def read(cls, name: str) -> Scene:
        """The scene that a name spells."""
        letters = name.removeprefix(PREFIX)
        parts = [letters[i : i + 2] for i in range(0, len(letters), 2)]
        if len(parts) != GRID**2 or any(part not in _SPELLED and part != _EMPTY for part in parts):
            known = ", ".join(_SPELLED)
            raise BadInput(f"{name!r:.60} spells no scene: that is scene: and for {GRID**2} cells {known} or {_EMPTY}.")
        return cls(tuple(_SPELLED.get(part) for part in parts))

    @property
    def name(self) -> str:
        return PREFIX + "".join(thing.letters if thing else _EMPTY for thing in self.cells)

    @property
    def things(self) -> list[Thing]:
        return [thing for thing in self.cells if thing]

    def pixels(self) -> Pixels:
        """The image [height, width, 3]."""
        image = np.full((GRID * CELL, GRID * CELL, 3), _PAPER, dtype=np.uint8)
        for i, thing in enumerate(self.cells):
            if thing:
                row, column = (CELL * at for at in divmod(i, GRID))
                image[row : row + CELL, column : column + CELL][_inside(thing.shape)] = COLORS[thing.color]
        return image


def _inside(shape: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The pixels of a cell that a shape covers; one pixel around it is free."""
    y, x = np.mgrid[:CELL, :CELL] + 0.5
    middle, reach = CELL / 2, CELL / 2 - 1
    match shape:
        case "circle":
            return np.asarray((x - middle) ** 2 + (y - middle) ** 2 <= reach**2)
        case "square":
            return np.asarray((abs(x - middle) <= reach) & (abs(y - middle) <= reach))
        case _:
            return np.asarray((abs(x - middle) <= (y - 1) / 2) & (y >= 1) & (y <= CELL - 1))


def questions(n: int, *, seed: int = 0) -> list[Example]:
    """Questions, each with the name of its scene, and answers; those of one seed begin alike however many they are."""
    if n < 1:
        raise BadInput(f"there are 1 or more questions, not {n}.")
    kinds = cycle([_color(seed), _there(seed), _count(seed)])
    return [_example(str(i), *next(kind)) for i, kind in zip(range(n), kinds, strict=False)]


_Asked: TypeAlias = tuple[str, str, list[Thing], Rng]


def _example(name: str, question: str, answer: str, things: Sequence[Thing], rng: Rng) -> Example:
    cells: list[Thing | None] = [None] * GRID**2
    for at, thing in zip(rng.permutation(GRID**2)[: len(things)].tolist(), things, strict=True):
        cells[at] = thing
    return Example(name, (question, Scene(tuple(cells)).name), answer)


def _turns(seed: int, kind: int, *choices: Sequence[str]) -> Iterator[tuple[Rng, list[str]]]:
    """All combinations of choices in turn, each round in an order of its own, and a generator for each."""
    rng = np.random.default_rng([seed, kind])
    combined = list(product(*choices))
    while True:
        for i in rng.permutation(len(combined)).tolist():
            yield rng, list(combined[i])


def _color(seed: int) -> Iterator[_Asked]:
    for rng, (shape, color) in _turns(seed, 0, SHAPES, list(COLORS)):
        others = _some(rng, _other_than(shape), _many(rng, 1))
        yield f"what color is the {shape} ?", color, [Thing(color, shape), *others], rng


def _there(seed: int) -> Iterator[_Asked]:
    for rng, (color, shape, answer) in _turns(seed, 1, list(COLORS), SHAPES, ("yes", "no")):
        asked = Thing(color, shape)
        alike = _some(rng, [t for t in _THINGS if (t.color == color) != (t.shape == shape)], 2)
        others = _some(rng, [t for t in _THINGS if t != asked], _many(rng, 3) + 1)
        first = asked if answer == "yes" else others[0]
        yield f"is there a {color} {shape} ?", answer, [first, *alike, *others[1:]], rng


def _count(seed: int) -> Iterator[_Asked]:
    for rng, (shape, answer) in _turns(seed, 2, SHAPES, ("0", "1", "2", "3")):
        counted = _some(rng, [t for t in _THINGS if t.shape == shape], int(answer))
        others = _some(rng, _other_than(shape), max(_many(rng, int(answer)), 1))
        yield f"how many {shape}s are there ?", answer, [*counted, *others], rng


def _many(rng: Rng, there: int) -> int:
    """How many more things come into a scene."""
    return int(rng.integers(0, _MOST - there + 1))


def _other_than(shape: str) -> list[Thing]:
    return [thing for thing in _THINGS if thing.shape != shape]


def _some(rng: Rng, fitting: Sequence[Thing], n: int) -> list[Thing]:
    return [fitting[i] for i in rng.integers(len(fitting), size=n).tolist()]
