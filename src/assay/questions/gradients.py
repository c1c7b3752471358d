"""Gradients of the explained number with respect to the input embeddings.

(gradient,) = yield InputGradient(text, aim=a)        -> Gradients per text, already summed over each word
vectors = yield GradientVectors(text, aim=a, noise=n) -> PieceGradient per noise: the gradient, piece by piece
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from assay.questions.answers import Gradients
from assay.questions.base import Aim, Question, Speaker
from assay.statistics.arrays import Floats
from assay.text.text import Text

Reduce: TypeAlias = Literal["dot", "l1", "l2", "linf"]


Baseline: TypeAlias = Literal["pad", "mask", "zero"]


_CHARACTERS = 4  # of a token, about


class Noise(NamedTuple):
    """Gaussian noise on the explained pieces: its deviation as a share of the range of their values, and its seed."""

    share: float
    seed: int


class GradientRow(NamedTuple):
    """Points on the straight line from a baseline (0) to the text (1), and what is wanted there.

    A baseline that is a text stands piece by piece in the place of the explained pieces, as often as it takes.
    """

    text: Text
    aim: Aim
    reduce: Reduce
    baseline: Baseline | Text | None
    at: tuple[float, ...] = (1.0,)
    noise: Noise | None = None

    @property
    def sequences(self) -> int:
        return len(self.at)

    @property
    def halves(self) -> tuple[GradientRow, GradientRow]:
        """The points in two rows."""
        middle = len(self.at) // 2
        return self._replace(at=self.at[:middle]), self._replace(at=self.at[middle:])


class InputGradient(Question):
    """The gradient of the explained number with respect to the input embeddings, reduced to one number per word.

    `dot` multiplies with the input (with input minus baseline where a baseline is given), the norms do not.
    With `at`, the gradient is taken at these points of the straight line from the baseline to the text; each point
    may have a baseline and a noise of its own. Points on one line share rows, as far as the model wants it.
    """

    backward = True

    def __init__(
        self,
        *texts: Text,
        aim: Aim,
        reduce: Reduce = "dot",
        baseline: Baseline | Sequence[Text] | None = None,
        at: Sequence[float] = (1.0,),
        noise: Sequence[Noise] | None = None,
    ) -> None:
        self.texts, self.aim, self.reduce, self.at = texts, aim, reduce, tuple(at)
        self.baselines: Sequence[Baseline | Text | None] = (
            [baseline] * len(self.at) if baseline is None or isinstance(baseline, str) else baseline
        )
        self.noise: Sequence[Noise | None] = noise or [None] * len(self.at)

    def rows(self, model: Speaker) -> Sequence[GradientRow]:
        lines = [(*line, [point[1] for point in points]) for line, points in groupby(self._points(), itemgetter(0, 2))]
        return [
            GradientRow(text, self.aim, self.reduce, baseline, part, noise)
            for text in self.texts
            for baseline, noise, at in lines
            for part in _parts(at, 1 if noise else model.line_tokens // _tokens(text))
        ]

    def _points(self) -> Iterator[tuple[Baseline | Text | None, float, Noise | None]]:
        return zip(self.baselines, self.at, self.noise, strict=True)

    @classmethod
    def sequences(cls, rows: Collection[GradientRow]) -> int:
        return sum(row.sequences for row in rows)

    def assemble(self, values: Sequence[Floats], model: Speaker) -> list[Gradients]:
        """Each row has a line for every point: the explained value, then one number per word."""
        ends = np.cumsum([len(value) for value in values]).tolist()
        first = [0, *(i for i, end in enumerate(ends, start=1) if end % len(self.at) == 0)]
        tables = [np.concatenate(values[i:j]) for i, j in pairwise(first)]
        return [Gradients(table[:, 0], table[:, 1:]) for table in tables]


def _tokens(text: Text) -> int:
    """About how many they are."""
    return 1 + max(len(text), sum(map(len, text.strings)) // _CHARACTERS)


def _parts(points: Sequence[float], most: int) -> Iterator[tuple[float, ...]]:
    """The points in as few parts as need be, all about as large."""
    count = -(-len(points) // max(1, most))
    return (tuple(points[i * len(points) // count : (i + 1) * len(points) // count]) for i in range(count))


class GradientVectors(Question):
    """The gradient itself at every piece of a text, once for each noise; large, and not remembered."""

    remembered = False
    weight = 64
    backward = True

    def __init__(self, text: Text, *, aim: Aim, noise: Sequence[Noise]) -> None:
        self.text, self.aim, self.noise = text, aim, noise

    def rows(self, model: Speaker) -> Sequence[GradientRow]:
        return [GradientRow(self.text, self.aim, "dot", None, noise=noise) for noise in self.noise]
