"""The questions a method may ask about a model, and the answers it gets.

A conversation is a generator: it yields questions, receives answers, and returns its result.

    answers = yield Predict(text, variants)              -> Predictions, one row per text and variant
    (gradient,) = yield InputGradient(text, target=1)    -> Gradients per text, already summed over each word
    fills = yield Fill(variants, model="mlm")            -> for every variant, candidates for each erased word
    maps = yield Attention(text)                         -> AttentionMaps: who looked at whom, piece by piece
    states = yield Hidden(text)                          -> HiddenStates: a vector per layer and piece

A question knows its rows: hashable things, each of which the engine asks a model at most once. It puts the
answers to its rows together again with `assemble`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import compress
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from scipy.special import expit, softmax

from assay.text import Row, Text

T = TypeVar("T")
Conversation: TypeAlias = Generator["Question", Any, T]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Masks: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Scalar: TypeAlias = Literal["log_odds", "probability", "logit"]
Reduce: TypeAlias = Literal["dot", "l1", "l2", "linf"]
Baseline: TypeAlias = Literal["pad", "mask", "zero"]


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
        words = self.text.words
        if self.fill is None and self.text.plain:
            return [(" ".join(compress(words, kept)),) for kept in self.keep.tolist()]
        return [self.text.row(row) for row in self._words(words, spelling)]

    def _words(self, words: Sequence[str], spelling: Mapping[Symbol, str]) -> Iterator[list[str | None]]:
        if isinstance(self.fill, np.ndarray):
            for kept, fills in zip(self.keep.tolist(), self.fill.tolist(), strict=True):
                yield [w if k else f for w, k, f in zip(words, kept, fills, strict=True)]
        else:
            fill = spelling[self.fill] if isinstance(self.fill, Symbol) else self.fill
            for kept in self.keep.tolist():
                yield [w if k else fill for w, k in zip(words, kept, strict=True)]


@dataclass(frozen=True)
class Predictions:
    """Model outputs [rows, labels]. `logits` are log-probabilities up to a constant, or one log-odds per label."""

    logits: Floats
    multi_label: bool = False

    def __len__(self) -> int:
        return len(self.logits)

    def __getitem__(self, rows: slice) -> Predictions:
        return Predictions(self.logits[rows], self.multi_label)

    @cached_property
    def probabilities(self) -> Floats:
        return np.asarray(expit(self.logits) if self.multi_label else softmax(self.logits, axis=-1))

    def argmax(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """The predicted label of each row; among equals the first."""
        return np.asarray(np.argmax(self.logits, axis=-1))

    def value(self, target: int, scalar: Scalar = "log_odds", against: int | None = None) -> Floats:
        """The explained number of each row."""
        if against is not None:
            return np.asarray(self.logits[:, target] - self.logits[:, against])
        if scalar == "probability":
            return np.asarray(self.probabilities[:, target])
        if scalar == "logit" or self.multi_label:
            return np.asarray(self.logits[:, target])
        others = np.delete(self.logits, target, axis=1)
        return np.asarray(self.logits[:, target] - np.logaddexp.reduce(others, axis=1))


@dataclass(frozen=True)
class Gradients:
    """At each point: the explained value, and one number per word."""

    values: Floats
    scores: Floats


@dataclass(frozen=True)
class Fills:
    """Candidates for each erased word of one variant, most likely first: words [holes][k], probabilities [holes, k]."""

    words: tuple[tuple[str, ...], ...]
    probabilities: Floats


class Aim(NamedTuple):
    """Which number is explained: of which label, on which scale, against which other label."""

    target: int
    scalar: Scalar = "log_odds"
    against: int | None = None


class GradientRow(NamedTuple):
    """One point on the straight line from a baseline (0) to the text (1), and what is wanted there."""

    text: Text
    aim: Aim
    reduce: Reduce
    baseline: Baseline | None
    at: float


class FillRow(NamedTuple):
    """A text with holes: the words that are kept, and None where a candidate is wanted."""

    text: Text
    keep: tuple[bool, ...]
    k: int
    whole_words: bool


class Speaker(Protocol):
    """What a question must know of the model that answers it."""

    @property
    def spelling(self) -> Mapping[Symbol, str]: ...
    @property
    def multi_label(self) -> bool: ...


class Question(ABC):
    """Something one can ask a model; `model` names another one than the explained model."""

    model: str | None = None
    remembered: ClassVar[bool] = True
    weight: ClassVar[int] = 1  # how many plain rows an answer is as large as

    @abstractmethod
    def rows(self, model: Speaker) -> Sequence[Hashable]:
        """What the engine asks, each row at most once."""

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
    With `at`, the gradient is taken at these points of the straight line from the baseline to the text.
    """

    def __init__(
        self,
        *texts: Text,
        aim: Aim,
        reduce: Reduce = "dot",
        baseline: Baseline | None = None,
        at: Sequence[float] = (1.0,),
    ) -> None:
        self.texts, self.aim, self.reduce, self.baseline, self.at = texts, aim, reduce, baseline, tuple(at)

    def rows(self, model: Speaker) -> Sequence[GradientRow]:
        return [GradientRow(t, self.aim, self.reduce, self.baseline, at) for t in self.texts for at in self.at]

    def assemble(self, values: Sequence[Floats], model: Speaker) -> list[Gradients]:
        """Each row is the explained value, then one number per word."""
        tables = (np.array(values[i : i + len(self.at)]) for i in range(0, len(values), len(self.at)))
        return [Gradients(table[:, 0], table[:, 1:]) for table in tables]


class Fill(Question):
    """What a masked language model would put in the place of the erased words, all holes of a variant at once."""

    def __init__(self, variants: Variants, *, model: str, k: int = 10, whole_words: bool = True) -> None:
        self.variants, self.model, self.k, self.whole_words = variants, model, k, whole_words

    def rows(self, model: Speaker) -> Sequence[FillRow]:
        text = self.variants.text
        return [FillRow(text, tuple(keep), self.k, self.whole_words) for keep in self.variants.keep.tolist()]

    def assemble(self, values: Sequence[Fills], model: Speaker) -> list[Fills]:
        return list(values)


class Settle(Question):
    """What is to be explained of a text that a model answers freely: the text with its answer as one more field."""

    def __init__(self, text: Text) -> None:
        self.text = text

    def rows(self, model: Speaker) -> Sequence[Text]:
        return [self.text]

    def assemble(self, values: Sequence[Text], model: Speaker) -> Text:
        return values[0]


@dataclass(frozen=True)
class PieceWords:
    """Which word owns how much of which piece of a text."""

    pieces: int
    words: int
    piece: np.ndarray[Any, np.dtype[np.int64]]
    word: np.ndarray[Any, np.dtype[np.int64]]
    share: np.ndarray[Any, np.dtype[np.float32]]

    def per_word(self, numbers: Floats) -> Floats:
        """Numbers per piece [..., pieces], summed over the pieces of each word [..., words]."""
        owned = np.zeros((self.pieces, self.words))
        owned[self.piece, self.word] = self.share
        return np.asarray(numbers @ owned)


@dataclass(frozen=True)
class AttentionMaps:
    """Weights [layers, heads, from piece, to piece], special tokens included."""

    weights: np.ndarray[Any, np.dtype[np.float32]]
    owners: PieceWords

    @property
    def reader(self) -> int:
        """The piece whose state becomes the answer: the first, or the last where nothing looks ahead."""
        looks_ahead = np.triu(self.weights[0, 0], k=1).any()
        return 0 if looks_ahead else self.weights.shape[-1] - 1


@dataclass(frozen=True)
class HiddenStates:
    """Vectors [layers + 1, pieces, size], special tokens included; layer 0 is the embedding."""

    states: np.ndarray[Any, np.dtype[np.float32]]
    owners: PieceWords


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
