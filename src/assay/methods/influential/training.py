"""What the methods of this row share: the training set as the model reads it, and the explanation of a text by it.

One sign for all of them: positive means that the training text pushed toward the explained label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.errors import AssayError, BadInput
from assay.explanations.case import Case
from assay.explanations.examples import Examples, at_both_ends
from assay.explanations.reading import Reading
from assay.explanations.sample_explanation import SampleId
from assay.questions.answers import Predictions
from assay.questions.base import Aim, Conversation
from assay.questions.cases import Cases
from assay.questions.each import Each
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.once import Once
from assay.questions.parameters import Loss, ParameterGradient, Target, TrainingRows
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats, Ints
from assay.text.example import Example, text_of
from assay.text.gradient_index import GradientIndex
from assay.text.text import Text
from assay.text.training_set import TrainingSet

_SAME = 1e-3  # how far an index may be from the model: another device may have made it
_LOOKED_AT = 8  # rows of an index that the model is asked about


@dataclass(frozen=True, eq=False)
class Training:
    """The rows of a training set, their labels as numbers, how many labels there are, and the gradients to take."""

    rows: tuple[Example, ...]
    known: SampleId
    labels: Ints
    label_count: int
    losses: TrainingRows
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def two_labels(self) -> bool:
        return self.label_count == 2

    def every_label(self) -> list[Target]:
        """The loss of every label for every row: row by row, label by label."""
        count = range(self.label_count)
        return [Target(target.strings, Loss(label)) for target in self.losses.targets for label in count]

    def said(self) -> Conversation[Predictions]:
        """What the asked model says of each row."""
        answers: Predictions = yield Predict(*(Text.of(text_of(target.strings)) for target in self.losses.targets))
        return answers

    def own(self, chances: Floats) -> Floats:
        """The probability of each row's own label."""
        return np.asarray(chances[np.arange(len(self)), self.labels])

    def margins(self) -> list[Target]:
        """The log-odds of each row's own label."""
        pairs = zip(self.losses.targets, self.labels.tolist(), strict=True)
        return [Target(target.strings, Aim(label)) for target, label in pairs]

    @property
    def curved(self) -> list[Target]:
        """The targets whose gradients make the Gauss-Newton matrix, see `curvature_factor`."""
        return self.margins() if self.two_labels else self.every_label()

    def curvature_factor(self, found: Floats) -> tuple[Floats, Floats]:
        """Of the gradients of `curved`, with their chances: those of the rows' own losses [n, p], and F, see below.

        F'F is the Gauss-Newton matrix: the mean of outer products of the gradients of the losses of all labels, each
        with the probability that the model gives it; of two labels it is p (1 - p) times that of the log-odds, which is
        half the work.
        """
        n, count = len(self), self.label_count
        gradients, chances = found[:, :-count], found[:, -count:]
        if self.two_labels:
            factor = gradients * np.sqrt(chances.prod(axis=1) / n)[:, None]
            return -(1 - self.own(chances))[:, None] * gradients, factor
        each = chances[np.arange(n * count), np.tile(np.arange(count), n)]
        return np.asarray(gradients[np.arange(n) * count + self.labels]), gradients * np.sqrt(each / n)[:, None]

    def explain(self, case: Case, scores: Floats, kept: int, **facts: Any) -> Examples:
        """The explanation of a case by the scores of all rows."""
        shown = at_both_ends(scores, self.rows, kept)
        return Examples(case, scores, shown, self.known, facts=facts, warnings=self.warnings)


def shared_training(train: TrainingSet | None, name: str, index: GradientIndex | None = None) -> Conversation[Training]:
    """The training set, read once for all texts, or as an index knows it; an error where there is none."""
    if index is not None:
        indexed: Training = yield Once(("indexed", index), lambda: _indexed(index))
        return indexed
    if train is None:
        raise BadInput(
            f"{name} searches the texts that the model was trained on: give train=[(text, label), ...], "
            "a frame or a path in Python, or --train FILE in the shell (in a run: -p train=FILE)."
        )
    found: Training = yield Once(("training", train), lambda: _read(train))
    return found


def _read(train: TrainingSet) -> Conversation[Training]:
    rows, name = tuple(train.sample), train.sample.name
    facts: KnownFacts = yield ModelFacts()
    labels = np.array([_label(row, facts, name) for row in rows])
    readings: list[Reading] = yield Each(_reading(row, name) for row in rows)
    texts = [reading.case.text.strings for reading in readings]
    losses = TrainingRows([Target(text, Loss(label)) for text, label in zip(texts, labels.tolist(), strict=True)])
    cut = sum(bool(reading.unseen) or bool(reading.given) for reading in readings)
    warnings = (f"truncated: {cut} of {len(rows)} training texts are longer than the model's window",) if cut else ()
    return Training(rows, SampleId.of(train.sample), labels, len(facts.labels), losses, warnings)


def _indexed(index: GradientIndex) -> Conversation[Training]:
    """An index of another model would give numbers, and they would mean nothing: the ends of it are looked at."""
    facts: KnownFacts = yield ModelFacts()
    if facts.labels != index.header.labels:
        raise BadInput(f"the index in {index} is of another model: its labels are {', '.join(index.header.labels)}.")
    rows, labels = index.examples, index.numbers
    pairs = zip(index.read, labels.tolist(), strict=True)
    losses = TrainingRows([Target(text, Loss(label)) for text, label in pairs])
    known = SampleId(str(index), index.header.digest, len(index))
    training = Training(rows, known, labels, len(facts.labels), losses)
    yield from _require_same(index, training, facts.name)
    return training


def _require_same(index: GradientIndex, training: Training, name: str) -> Conversation[None]:
    """The gradient of the first row, and what the model says of a few: other weights differ in one or the other."""
    (first,) = yield ParameterGradient(training.margins()[:1], **index.projection)
    some = np.linspace(0, len(training) - 1, min(_LOOKED_AT, len(training))).astype(int)
    answers: Predictions = yield Predict(*(Text.of(text_of(index.read[i])) for i in some))
    there = next(iter(index.gradients()))[0]
    apart = np.abs(first - there).max() / max(float(np.abs(first).max()), 1e-12)
    if max(float(apart), float(np.abs(answers.probabilities - index.chances[some]).max())) > _SAME:
        raise BadInput(f"the index in {index} was made with other weights than those of {name}; make it again.")


def _label(row: Example, facts: KnownFacts, name: str) -> int:
    if row.label in facts.labels:
        return facts.labels.index(row.label)
    known = ", ".join(facts.labels)
    raise BadInput(f"row {row.position + 1} of {name} has the label {row.label!r}; {facts.name} has only: {known}.")


def _reading(row: Example, name: str) -> Conversation[Reading]:
    """A row as the model reads it; an error says which row it is about."""
    try:
        [reading] = yield Cases([row.text], predicted=False)
    except AssayError as error:
        raise type(error)(f"row {row.position + 1} of {name}: {error}") from error
    found: Reading = reading
    return found


def require_same_labels(name: str | None) -> Conversation[None]:
    """A checkpoint of another model would give numbers, and they would mean nothing."""
    if name is None:
        return
    own: KnownFacts = yield ModelFacts()
    other: KnownFacts = yield ModelFacts().sent_to(name)
    if own.labels != other.labels:
        there, here = ", ".join(other.labels), ", ".join(own.labels)
        raise BadInput(f"{name[1:]} is of another model: its labels are {there}, those of {own.name} are {here}.")


def require_kept(kept: int) -> None:
    if kept < 1:
        raise BadInput(f"kept is the number of training texts to list in each direction, 1 or more, not {kept}.")
