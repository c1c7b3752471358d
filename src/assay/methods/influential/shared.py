"""The training set, read once for all texts that are explained by it: from texts, or from an index on disk."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from assay.errors import AssayError, BadInput
from assay.explanations.reading import Reading
from assay.explanations.sample_explanation import SampleId
from assay.methods.influential.training import LabelledTraining, TokenTraining, Training
from assay.questions.answers import Predictions
from assay.questions.base import Conversation
from assay.questions.cases import Cases
from assay.questions.each import Each
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.once import Once
from assay.questions.parameters import Loss, LossTokens, ParameterGradient, Target, TokenLoss, TrainingRows
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats
from assay.text.example import Example, text_of
from assay.text.gradient_index import GradientIndex
from assay.text.text import Text
from assay.text.training_set import TrainingSet

T = TypeVar("T")
_SAME = 1e-3  # how far an index may be from the model: another device may have made it
_COUNTED = 5  # training texts whose tokens a checkpoint must count alike
_LOOKED_AT = 8  # rows of an index that the model is asked about


def shared_training(
    train: TrainingSet | None, name: str, index: GradientIndex | None = None, sum_tokens: bool = False
) -> Conversation[Training]:
    """The training set, read once for all texts, or as an index knows it; an error where there is none."""
    if index is not None:
        indexed: Training = yield Once(("indexed", index), lambda: _indexed(index))
        return indexed
    if train is None:
        raise BadInput(
            f"{name} searches the texts that the model was trained on: give train=[(text, label), ...] (of a language "
            "model train=[text, ...]), a frame or a path in Python, or --train FILE in the shell (in a run: "
            "-p train=FILE)."
        )
    found: Training = yield Once(("training", train, sum_tokens), lambda: _read(train, not sum_tokens))
    return found


def labelled_training(train: TrainingSet | None, name: str) -> Conversation[LabelledTraining]:
    """That of a model with labels."""
    found = yield from shared_training(train, name)
    assert isinstance(found, LabelledTraining)
    return found


def _read(train: TrainingSet, mean: bool) -> Conversation[Training]:
    facts: KnownFacts = yield ModelFacts()
    return (yield from _tokens(train, mean) if LossTokens in facts.answers else _labelled(train, facts))


def _labelled(train: TrainingSet, facts: KnownFacts) -> Conversation[Training]:
    rows, name = tuple(train.require_labels().sample), train.sample.name
    labels = np.array([_label(row, facts, name) for row in rows])
    readings: list[Reading] = yield Each(_located(_reading(row), row, name) for row in rows)
    texts = [reading.case.text.strings for reading in readings]
    losses = TrainingRows([Target(text, Loss(label)) for text, label in zip(texts, labels.tolist(), strict=True)])
    cut = sum(bool(reading.unseen) or bool(reading.given) for reading in readings)
    return LabelledTraining(rows, SampleId.of(train.sample), labels, len(facts.labels), losses, _cut(cut, len(rows)))


def _tokens(train: TrainingSet, mean: bool) -> Conversation[Training]:
    rows, name = tuple(train.sample), train.sample.name
    counts: list[Floats] = yield Each(_located(_counted(row), row, name) for row in rows)
    losses = TrainingRows([Target(row.strings, TokenLoss(mean)) for row in rows])
    cut = sum(beyond > 0 for _, beyond in counts)
    return TokenTraining(rows, SampleId.of(train.sample), losses, mean, _cut(cut, len(rows)))


def _cut(count: int, of: int) -> tuple[str, ...]:
    return (f"truncated: {count} of {of} training texts are longer than the model's window",) if count else ()


def _indexed(index: GradientIndex) -> Conversation[Training]:
    """An index of another model would give numbers, and they would mean nothing: the ends of it are looked at."""
    facts: KnownFacts = yield ModelFacts()
    rows, known = index.examples, SampleId(str(index), index.header.digest, len(index))
    training: Training
    if LossTokens in facts.answers:
        if index.header.labels:
            raise BadInput(f"the index in {index} is of a classifier: its labels are {', '.join(index.header.labels)}.")
        training = TokenTraining(rows, known, TrainingRows([Target(text, TokenLoss()) for text in index.read]))
    elif facts.labels != index.header.labels:
        has = f"its labels are {', '.join(index.header.labels)}" if index.header.labels else "it has no labels"
        raise BadInput(f"the index in {index} is of another model: {has}.")
    else:
        pairs = zip(index.read, index.numbers.tolist(), strict=True)
        losses = TrainingRows([Target(text, Loss(label)) for text, label in pairs])
        training = LabelledTraining(rows, known, index.numbers, len(facts.labels), losses)
    yield from _require_same(index, training, facts.name)
    return training


def _require_same(index: GradientIndex, training: Training, name: str) -> Conversation[None]:
    """The gradient of the first row, and what the model says of a few: other weights differ in one or the other."""
    some = np.linspace(0, len(training) - 1, min(_LOOKED_AT, len(training))).astype(int).tolist()
    labelled = isinstance(training, LabelledTraining)
    first: Floats = yield ParameterGradient([training.features[i] for i in some[:1]], **index.projection)
    gaps = [np.abs(first[0] - index.first).max() / max(float(np.abs(first).max()), 1e-12)]
    if labelled:
        answers: Predictions = yield Predict(*(Text.of(text_of(index.read[i])) for i in some))
        gaps.append(np.abs(answers.probabilities - index.chances[some]).max())
    if max(gaps) > _SAME:
        raise BadInput(f"the index in {index} was made with other weights than those of {name}; make it again.")


def _label(row: Example, facts: KnownFacts, name: str) -> int:
    if row.label in facts.labels:
        return facts.labels.index(row.label)
    known = ", ".join(facts.labels)
    raise BadInput(f"row {row.position + 1} of {name} has the label {row.label!r}; {facts.name} has only: {known}.")


def _reading(row: Example) -> Conversation[Reading]:
    """A row as the model reads it."""
    [reading] = yield Cases([row.text], predicted=False)
    found: Reading = reading
    return found


def _counted(row: Example) -> Conversation[Floats]:
    found: Floats = yield LossTokens(row.strings)
    return found


def _located(conversation: Conversation[T], row: Example, name: str) -> Conversation[T]:
    """The same; an error says which row it is about."""
    try:
        return (yield from conversation)
    except AssayError as error:
        raise type(error)(f"row {row.position + 1} of {name}: {error}") from error


def require_same_labels(name: str | None, training: Training) -> Conversation[None]:
    """A checkpoint of another model would give numbers, and they would mean nothing."""
    if name is None:
        return
    own: KnownFacts = yield ModelFacts()
    other: KnownFacts = yield ModelFacts().sent_to(name)
    called = name.removeprefix("@")
    if own.labels != other.labels:
        there, here = ", ".join(other.labels), ", ".join(own.labels)
        raise BadInput(f"{called} is of another model: its labels are {there}, those of {own.name} are {here}.")
    if isinstance(training, TokenTraining):
        for row in training.rows[:_COUNTED]:
            counts = yield LossTokens(row.strings)
            others = yield LossTokens(row.strings).sent_to(name)
            if (counts != others).any():
                raise BadInput(f"{called} is of another model: it reads the training texts as other tokens.")


def require_kept(kept: int) -> None:
    if kept < 1:
        raise BadInput(f"kept is the number of training texts to list in each direction, 1 or more, not {kept}.")
