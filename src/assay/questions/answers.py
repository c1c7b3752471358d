"""What models answer: numbers about rows, words and pieces, without a word about who asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from scipy.special import expit, softmax

from assay.statistics.arrays import Floats
from assay.statistics.divergence import tvd

Scalar: TypeAlias = Literal["log_odds", "probability", "logit"]


@runtime_checkable
class KnowsFinite(Protocol):
    """An answer of a question's own that knows whether all its numbers are finite."""

    @property
    def finite(self) -> bool: ...


class OfNumbers:
    """An answer whose own arrays are its numbers."""

    @property
    def finite(self) -> bool:
        arrays = (part for part in vars(self).values() if isinstance(part, np.ndarray))
        return all(bool(np.isfinite(one).all()) for one in arrays)


@dataclass(frozen=True)
class Predictions(OfNumbers):
    """Model outputs [rows, labels]. `logits` are log-probabilities up to a constant, or one log-odds per label.

    With `one_logit` z they are -z/2 and z/2, so that probabilities and log-odds are right.
    """

    logits: Floats
    multi_label: bool = False
    one_logit: bool = False

    def __len__(self) -> int:
        return len(self.logits)

    def __getitem__(self, rows: slice) -> Predictions:
        return replace(self, logits=self.logits[rows])

    @cached_property
    def probabilities(self) -> Floats:
        return np.asarray(expit(self.logits) if self.multi_label else softmax(self.logits, axis=-1))

    def argmax(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """The predicted label of each row; among equals the first."""
        return np.asarray(np.argmax(self.logits, axis=-1))

    def value(self, target: int, scalar: Scalar = "log_odds", against: int | None = None) -> Floats:
        """The explained number of each row."""
        scalar = scale(scalar, self.one_logit)
        if against is not None:
            return np.asarray(self.logits[:, target] - self.logits[:, against])
        if scalar == "probability":
            return np.asarray(self.probabilities[:, target])
        if scalar == "logit" or self.multi_label:
            return np.asarray(self.logits[:, target])
        if self.logits.shape[1] == 2:  # the usual case, twenty times as fast
            return np.asarray(self.logits[:, target] - self.logits[:, 1 - target])
        others = np.delete(self.logits, target, axis=1)
        return np.asarray(self.logits[:, target] - np.logaddexp.reduce(others, axis=1))


def scale(scalar: Scalar, one_logit: bool) -> Scalar:
    """The scale that is meant: the only logit of a model is the log-odds of its labels, and a column has half of it."""
    return "log_odds" if scalar == "logit" and one_logit else scalar


def changes(answers: Predictions, before: Predictions) -> Floats:
    """How far each answer is from the one before [rows]."""
    p, q = answers.probabilities, before.probabilities
    return np.asarray(np.abs(p - q).mean(axis=-1)) if answers.multi_label else tvd(p, q)


@dataclass(frozen=True)
class Gradients:
    """At each point: the explained value, and one number per word."""

    values: Floats
    scores: Floats


@dataclass(frozen=True)
class Fills(OfNumbers):
    """Candidates for each erased word of one variant, most likely first: words [holes][k], probabilities [holes, k].

    A hole that has fewer candidates than another has zeros behind their probabilities.
    """

    words: tuple[tuple[str, ...], ...]
    probabilities: Floats


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
class PieceGradient(OfNumbers):
    """The gradient of the explained number at every piece of a text [pieces, size]."""

    gradient: np.ndarray[Any, np.dtype[np.float32]]
    owners: PieceWords


@dataclass(frozen=True)
class AttentionMaps(OfNumbers):
    """Weights [layers, heads, from piece, to piece], special tokens included."""

    weights: np.ndarray[Any, np.dtype[np.float32]]
    owners: PieceWords
    answered_at: tuple[int, ...] | None = None

    @property
    def readers(self) -> tuple[int, ...]:
        """The pieces whose states become the answer, their mean where they are several.

        Where the text does not say what is explained it is the first piece, or the last one of a decoder.
        """
        if self.answered_at is not None:
            return self.answered_at
        looks_ahead = np.triu(self.weights[0, 0], k=1).any()
        return (0,) if looks_ahead else (self.weights.shape[-1] - 1,)

    @property
    def facts(self) -> dict[str, str]:
        """What an explanation should say where it is not one piece that looks."""
        many = len(self.readers)
        return {"readers": f"mean over the {many} pieces that the answer reads"} if many > 1 else {}

    def looked(self, weights: Floats) -> Floats:
        """What the readers look at, of the weights of one map [from, to]."""
        return np.asarray(weights[list(self.readers)].mean(axis=0))

    def rolled(self, layers: Floats) -> Floats:
        """One map per layer [layers, from, to], multiplied from the readers down to the words [words]."""
        flow = self.looked(np.eye(layers.shape[-1]))
        for layer in layers[::-1]:
            flow = flow @ layer
        return self.owners.per_word(flow)


@dataclass(frozen=True)
class HiddenStates(OfNumbers):
    """Vectors [layers + 1, pieces, size], special tokens included; layer 0 is the embedding."""

    states: np.ndarray[Any, np.dtype[np.float32]]
    owners: PieceWords


@dataclass(frozen=True)
class PieceActivations(OfNumbers):
    """What the neurons of a layer compute at every piece of a text [pieces, neurons], special tokens included."""

    values: np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class Relevances:
    """The explained value, what each word got of it, and what went elsewhere."""

    value: float
    scores: Floats
    taken: Mapping[str, float]


@dataclass(frozen=True)
class Adversaries:
    """An attention over the words of a text, k others that a search found, and what the model says under each.

    `weights` [1 + k, words] and `answers` [1 + k] begin with the attention that the others are far from.
    """

    weights: Floats
    answers: Predictions

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.weights).all()) and self.answers.finite
