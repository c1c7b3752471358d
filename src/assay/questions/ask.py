"""The questions a method may ask about a model, and the answers it gets.

A conversation is a generator: it yields questions, receives answers, and returns its result.

    answers = yield Predict(text, variants)              -> Predictions, one row per text and variant
    (gradient,) = yield InputGradient(text, target=1)    -> Gradients per text, already summed over each word
    vectors = yield GradientVectors(text, aim=a, noise=n) -> PieceGradient per noise: the gradient, piece by piece
    fills = yield Fill(variants, model="mlm")            -> for every variant, candidates for each erased word
    maps = yield Attention(text)                         -> AttentionMaps: who looked at whom, piece by piece
    states = yield Hidden(text)                          -> HiddenStates: a vector per layer and piece
    maps = yield ValueZeroing(text)                      -> AttentionMaps: whose value vector turns whose state
    told = yield Relevance(text, aim)                    -> Relevances: what each word, and what else, got of a number

Questions about other attention than the model's own are in `assay.questions.interventions`.

A question knows its rows: hashable things, each of which the engine asks a model at most once. It puts the
answers to its rows together again with `assemble`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Hashable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from assay.questions.answers import Fills, Floats, Gradients, PieceGradient, Predictions, Relevances, Scalar
from assay.text.text import Masks, Row, Text

T = TypeVar("T")
Conversation: TypeAlias = Generator["Question", Any, T]
Reduce: TypeAlias = Literal["dot", "l1", "l2", "linf"]
Baseline: TypeAlias = Literal["pad", "mask", "zero"]
_CHARACTERS = 4  # of a token, about


class Symbol(StrEnum):
    """What stands in the place of an erased word; each model spells it in its own way."""

    MASK = "mask"
    UNKNOWN = "unknown"
    PAD = "pad"


def now(value: T) -> Conversation[T]:
    """A conversation that asks nothing."""
    yield from ()
    return value


@dataclass(frozen=True, eq=False)
class Variants:
    """Many versions of one text: which words each version keeps, and what stands for the others.

    `fill` is None (they are left out), a symbol or a word for all of them, or an array of words of the masks' shape.
    """

    text: Text
    keep: Masks
    fill: Symbol | str | np.ndarray[Any, np.dtype[np.object_]] | None = None

    def __len__(self) -> int:
        return len(self.keep)

    def rows(self, spelling: Mapping[Symbol, str]) -> list[Row]:
        """The strings of every version."""
        if not isinstance(self.fill, np.ndarray):
            return self.text.rows(self.keep, spelling[self.fill] if isinstance(self.fill, Symbol) else self.fill)
        words, filled = self.text.words, zip(self.keep.tolist(), self.fill.tolist(), strict=True)
        return [
            self.text.row([w if k else f for w, k, f in zip(words, kept, fills, strict=True)]) for kept, fills in filled
        ]


class Aim(NamedTuple):
    """Which number is explained: of which label, on which scale, against which other label."""

    target: int
    scalar: Scalar = "log_odds"
    against: int | None = None


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


class FillRow(NamedTuple):
    """A text with holes: the words that are kept, and None where a candidate is wanted."""

    text: Text
    keep: tuple[bool, ...]
    k: int | None
    whole_words: bool
    threshold: float | None = None


class Speaker(Protocol):
    """What a question must know of the model that answers it."""

    @property
    def spelling(self) -> Mapping[Symbol, str]: ...
    @property
    def multi_label(self) -> bool: ...
    @property
    def line_tokens(self) -> int: ...


class Question(ABC):
    """Something one can ask a model; `model` names another one than the explained model."""

    model: str | None = None
    remembered: ClassVar[bool] = True
    weight: ClassVar[int] = 1  # how many plain rows an answer is as large as
    backward: ClassVar[bool] = False  # whether a row takes a backward pass

    @abstractmethod
    def rows(self, model: Speaker) -> Sequence[Hashable]:
        """What the engine asks, each row at most once."""

    @classmethod
    def sequences(cls, rows: Collection[Any]) -> int:
        """How many sequences the model reads for these rows."""
        return len(rows)

    @abstractmethod
    def assemble(self, values: Sequence[Any], model: Speaker) -> Any:
        """The answer, from the answers to the rows."""


class Predict(Question):
    """The outputs of the model for texts and variants of texts, in this order."""

    def __init__(self, *inputs: Text | Variants) -> None:
        self.inputs = inputs

    def rows(self, model: Speaker) -> Sequence[Row]:
        rows: list[Row] = []
        for part in self.inputs:
            rows += [part.strings] if isinstance(part, Text) else part.rows(model.spelling)
        return rows

    def assemble(self, values: Sequence[Floats], model: Speaker) -> Predictions:
        return Predictions(np.array(values), model.multi_label)


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

    def assemble(self, values: Sequence[PieceGradient], model: Speaker) -> list[PieceGradient]:
        return list(values)


class Fill(Question):
    """What a masked language model would put in the place of the erased words, all holes of a variant at once.

    The `k` likeliest words (10 if nobody says), or with `threshold` all words that are at least so likely, and not more
    than k where k is given; the likeliest in any case. Variants that hold words for some holes, and None for the
    others, are filled one hole further: only the next one is answered, those behind it are masked.
    """

    def __init__(
        self,
        variants: Variants,
        *,
        model: str,
        k: int | None = None,
        threshold: float | None = None,
        whole_words: bool = True,
    ) -> None:
        self.variants, self.model, self.threshold, self.whole_words = variants, model, threshold, whole_words
        self.k = 10 if k is None and threshold is None else k

    def rows(self, model: Speaker) -> Sequence[FillRow]:
        text, wanted = self.variants.text, (self.k, self.whole_words, self.threshold)
        if isinstance(self.variants.fill, np.ndarray):
            mask, filled = model.spelling[Symbol.MASK], zip(self.variants.keep, self.variants.fill, strict=True)
            holed = (_next_hole(text, kept, words, mask) for kept, words in filled)
            return [FillRow(version, keep, *wanted) for version, keep in holed]
        return [FillRow(text, tuple(keep), *wanted) for keep in self.variants.keep.tolist()]

    def assemble(self, values: Sequence[Fills], model: Speaker) -> list[Fills]:
        return list(values)


def _next_hole(text: Text, kept: Masks, filled: Sequence[str | None], mask: str) -> tuple[Text, tuple[bool, ...]]:
    """The text with the words that were put in and with masks for those to come; all is kept but the first of these."""
    words = [word if k else new for word, k, new in zip(text.words, kept, filled, strict=True)]
    keep = [True] * len(words)
    if None in words:
        hole = words.index(None)
        words[hole], keep[hole] = text.words[hole], False
    return text.with_words([mask if word is None else word for word in words]), tuple(keep)


class Settle(Question):
    """What is to be explained of texts that a model answers freely: each text with its answer as one more field."""

    def __init__(self, *texts: Text) -> None:
        self.texts = texts

    def rows(self, model: Speaker) -> Sequence[Text]:
        return self.texts

    def assemble(self, values: Sequence[Text], model: Speaker) -> list[Text]:
        return list(values)


class _Inside(Question):
    """A look inside the model at one text; the answers are large and not remembered."""

    remembered = False
    weight = 256

    def __init__(self, text: Text) -> None:
        self.text = text

    def rows(self, model: Speaker) -> Sequence[Text]:
        return [self.text]

    def assemble(self, values: Sequence[Any], model: Speaker) -> Any:
        return values[0]


class Attention(_Inside):
    """The attention weights of every layer and head."""


class Hidden(_Inside):
    """The hidden states of every layer."""


class ValueZeroing(_Inside):
    """How far the output of every layer turns when the value vector of a piece is zero in its attention.

    The answer is AttentionMaps with one head: cosine distances, each row divided by its sum.
    """


class RelevanceRow(NamedTuple):
    """A text and the number whose relevance is wanted."""

    text: Text
    aim: Aim


class Relevance(Question):
    """How much of the explained number comes from each word, propagated layer by layer with the rules of AttnLRP."""

    backward = True
    # Elsewhere: the scale of the number, constants (positions, types), biases, softmaxes, pieces of no explained word.
    takers: ClassVar[tuple[str, ...]] = ("scale", "constants", "biases", "softmax", "other_pieces")

    def __init__(self, text: Text, aim: Aim) -> None:
        self.text, self.aim = text, aim

    def rows(self, model: Speaker) -> Sequence[RelevanceRow]:
        return [RelevanceRow(self.text, self.aim)]

    def assemble(self, values: Sequence[Floats], model: Speaker) -> Relevances:
        """The row is the explained value, then what each taker and each word got."""
        value, taken, scores = np.split(values[0], [1, 1 + len(self.takers)])
        return Relevances(float(value[0]), scores, dict(zip(self.takers, taken.tolist(), strict=True)))


class Depth(Question):
    """How many layers stand between the embeddings and the head of a model.

    A model that knows its layers can also be asked as another one: a question whose `model` is `@SPEC` goes to the
    model that `derived(SPEC)` makes of it.
    """

    def rows(self, model: Speaker) -> Sequence[str]:
        return ["depth"]

    def assemble(self, values: Sequence[Floats], model: Speaker) -> int:
        return int(values[0][0])


def elsewhere(conversation: Conversation[T], model: str) -> Conversation[T]:
    """The same conversation with another model: questions that name none go to this one."""
    go_on: Callable[[], Question] = partial(next, conversation)
    while True:
        try:
            question = go_on()
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        try:
            go_on = partial(conversation.send, (yield _sent_to(question, model)))
        except Exception as error:
            go_on = partial(conversation.throw, error)


def _sent_to(question: Question, model: str) -> Question:
    if question.model is not None:
        return question
    sent = copy(question)
    sent.model = model
    return sent
