"""From what a user gives to a case: the text as the model sees it, and what is explained of it.

A text is split into words, cut to the model's window, and settled where the model answers freely (a masked word, a
span, a continuation). Then its target is the label that was asked for, or the predicted one. What was cut and what the
model predicts is kept, so that the explanation can say it.
"""

from __future__ import annotations

import operator
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, SupportsIndex, TypeVar, cast, runtime_checkable

from assay.errors import BadInput, UnknownName
from assay.explanations.base import Explanation
from assay.explanations.case import Case
from assay.explanations.text_explanation import TextExplanation
from assay.questions.aims import Aims
from assay.questions.answers import Predictions
from assay.questions.base import Conversation, Question
from assay.questions.cases import Cases
from assay.questions.predict import Predict, Settle
from assay.text.example import Example
from assay.text.sample import Sample
from assay.text.splitting import Span
from assay.text.text import Field, Row, Text, TextLike

E = TypeVar("E", bound=TextExplanation, covariant=True)
T = TypeVar("T")
D = TypeVar("D", bound=Explanation, covariant=True)


class Reader(Protocol):
    """What must be known of the model that reads a text."""

    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...
    @property
    def fields(self) -> tuple[str, ...]: ...
    @property
    def nothing(self) -> str | None: ...
    @property
    def focus(self) -> tuple[str, ...] | None: ...
    @property
    def target(self) -> int | None: ...
    @property
    def answers(self) -> Container[type[Question]]: ...
    def names(self, text: Text) -> tuple[str, ...]: ...
    def clip(self, text: Text) -> Text: ...


@runtime_checkable
class Explains(Protocol[E]):
    """A method that reads a Case: it explains what the model says of one text."""

    def explain(self, case: Case) -> Conversation[E]: ...


@runtime_checkable
class Describes(Protocol[D]):
    """A method that reads a Sample: it describes what the model does with many texts."""

    def describe(self, sample: Sample) -> Conversation[D]: ...


@dataclass(frozen=True)
class Reading:
    """A case, and what is to be said of it beside its explanation."""

    case: Case
    prediction: Mapping[str, float] = field(default_factory=dict)
    unseen: tuple[Span, ...] = ()
    given: Row = ()
    warnings: tuple[str, ...] = ()
    nothing: str | None = None

    def explained_by(self, method: Explains[E]) -> Conversation[E]:
        """What the method says of the case, with what is known from reading it."""
        asked, emptied = method.explain(self.case), False
        if self.nothing is None:  # the usual case: something stands around every text
            explanation = yield from asked
        else:
            explanation, emptied = yield from _watched(asked)
        warnings = *explanation.warnings, *self.warnings
        if emptied:
            read_as = f"the model read the text without any of its words as the token {self.nothing}"
            warnings = *warnings, f"empty text: {read_as}"
        return explanation.told(prediction=self.prediction, unseen=self.unseen, given=self.given, warnings=warnings)


def _watched(talk: Conversation[T]) -> Conversation[tuple[T, bool]]:
    """The same conversation, and whether the model was asked about a text without words on the way."""
    answer: Any = None
    emptied = False
    while True:
        try:
            inquiry = talk.throw(answer) if isinstance(answer, Exception) else talk.send(answer)
        except StopIteration as stop:
            return stop.value, emptied
        emptied = emptied or (isinstance(inquiry, Predict) and inquiry.leaves_nothing())
        try:
            answer = yield inquiry
        except Exception as error:  # a method may catch what the model cannot answer
            answer = error


def read(model: Reader, source: TextLike, aims: Aims, predicted: bool = True) -> Conversation[Reading]:
    """Read a text, and settle what is explained of it; one that is not `predicted` is only read."""
    whole = Text.of(source, names=model.fields, focus=aims.focus or model.focus, split=aims.split).require_words()
    seen = model.clip(whole).require_words()
    text = (yield Settle(seen))[0].require_words() if Settle in model.answers else seen
    unseen = tuple(_unseen(whole, seen, text)) if seen is not whole else ()
    given = _given(whole, seen, text) if len(whole) > len(seen) else ()
    if not predicted:
        return Reading(Case(text, 0, aims.scalar, None, aims.seed), unseen=unseen, given=given)
    answer = yield Predict(text)
    target = _target(model, answer) if aims.target is None else label_index(model, aims.target)
    against = None if aims.against is None else label_index(model, aims.against)
    if against == target:
        raise BadInput(f"{model.labels[target]!r} is explained, and cannot be explained against itself.")
    return Reading(
        Case(text, target, aims.scalar, against, aims.seed),
        prediction=dict(zip(model.names(text), answer.probabilities[0].tolist(), strict=True)),
        unseen=unseen,
        given=given,
        warnings=(*_cut_context(whole, seen), *model.warnings) if seen is not whole else model.warnings,
        nothing=model.nothing,
    )


def reading_of(row: Example, sample: Sample) -> Conversation[Reading]:
    """One text of a sample as the model reads it; an error says which row it is about."""
    with sample.naming(row.position):
        [reading] = yield Cases([row.text])
    found: Reading = reading
    return found


def _target(model: Reader, answer: Predictions) -> int:
    """What is explained if nobody says."""
    return int(answer.argmax()[0]) if model.target is None else model.target


def _unseen(whole: Text, seen: Text, text: Text) -> Iterator[tuple[int, int]]:
    """The spans of the words that the model did not see, in the last field of each string."""
    for (_, start), all_of_it, part in zip(_lasts(text), whole.fields, seen.fields, strict=False):
        if part.name in seen.focus and not _lost_its_start(all_of_it, part):
            yield from ((a - start, b - start) for a, b in all_of_it.spans[len(part.spans) :])


def _given(whole: Text, seen: Text, text: Text) -> tuple[str, ...]:
    """The strings of the text with what the model did not see of them."""
    strings = list(text.strings)
    for (last, _), all_of_it, part in zip(_lasts(text), whole.fields, seen.fields, strict=False):
        if not _lost_its_start(all_of_it, part):
            strings[last] += all_of_it.string[len(part.string) :]
    return tuple(strings)


def _lasts(text: Text) -> list[tuple[int, int]]:
    """For every string that models read, the last of the fields it stands in, and where this begins in the string."""
    lasts: list[tuple[int, int]] = []
    for i, part in enumerate(text.fields):
        if part.part in ("own", "first"):
            lasts.append((i, 0))
        elif part.part != "note":
            before, start = lasts[-1]
            lasts[-1] = (i, start + len(text.fields[before].string))
    return lasts


def _cut_context(whole: Text, seen: Text) -> Iterator[str]:
    """What `unseen` cannot say: that a field lost its start, or that one was cut which is not explained."""
    for all_of_it, part in zip(whole.fields, seen.fields, strict=True):
        if _lost_its_start(all_of_it, part):
            yield f"truncated: the model saw only the end of the field {all_of_it.name!r}; its start is not shown"
        elif all_of_it.name not in whole.focus and all_of_it != part:
            yield f"truncated: the model saw only a part of the field {all_of_it.name!r}"


def _lost_its_start(whole: Field, seen: Field) -> bool:
    """Whether a tokenizer that cuts at the start (truncation_side="left") has cut it."""
    return not whole.string.startswith(seen.string)


def label_index(model: Reader, label: str | int) -> int:
    """A label by its name, or by its number; a number in a string is a name where labels are called by numbers.

    A name in other case will do where it can only mean one label.
    """
    if isinstance(label, list | tuple):
        raise BadInput(
            f"a target is one label for all texts, not {label!r:.60}; explain the texts of each label apart."
        )
    if isinstance(label, str) and label in model.labels:
        return model.labels.index(label)
    counted = not isinstance(label, str) or not called_by_numbers(model.labels)
    if counted and (number := _number(label)) is not None:
        if number < len(model.labels):
            return number
        first, last = model.labels[0], model.labels[-1]
        numbers = f"they count from 0 ({first}) to {len(model.labels) - 1} ({last})"
        raise UnknownName(f"no label has the number {number}; {numbers}.")
    alike = [i for i, name in enumerate(model.labels) if name.casefold() == str(label).casefold()]
    if len(alike) == 1:
        return alike[0]
    raise UnknownName.of("label", label, model.labels)


def _number(label: object) -> int | None:
    """A label's number, from any kind of integer (of numpy or torch too) or from digits."""
    if isinstance(label, str):
        return int(label) if label.isdecimal() and label.isascii() else None
    try:
        number = -1 if isinstance(label, bool) else operator.index(cast(SupportsIndex, label))
    except TypeError:
        return None
    return int(number) if number >= 0 else None


def called_by_numbers(labels: Iterable[str]) -> bool:
    """Whether the name of some label is a number: then "1" is a name (of three stars, the worst), not a place."""
    return any(label.isdecimal() for label in labels)
