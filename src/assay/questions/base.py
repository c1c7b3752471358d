"""What a question is, and the conversation in which it is asked.

A conversation is a generator: it yields inquiries, receives answers, and returns its result. Most inquiries are
questions to a model. A question knows its rows: hashable things, each of which the engine asks a model at most once. It
puts the answers to its rows together again with `assemble`. Other inquiries (`Each`, `Cases`, `Train`) are answered by
the engine itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Hashable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar

from assay.questions.answers import Scalar
from assay.text.variants import Symbol

T = TypeVar("T")
CHECKPOINT = "@checkpoint:"  # the model that is asked, at a checkpoint of its training

Conversation: TypeAlias = Generator["Inquiry", Any, T]


def now(value: T) -> Conversation[T]:
    """A conversation that asks nothing."""
    yield from ()
    return value


class Aim(NamedTuple):
    """Which number is explained: of which label, on which scale, against which other label."""

    target: int
    scalar: Scalar = "log_odds"
    against: int | None = None


class Speaker(Protocol):
    """What a question must know of the model that answers it."""

    @property
    def spelling(self) -> Mapping[Symbol, str]: ...
    @property
    def multi_label(self) -> bool: ...
    @property
    def one_logit(self) -> bool: ...
    @property
    def line_tokens(self) -> int: ...


class Inquiry:
    """Anything that a conversation may yield; `model` names another one than the explained model."""

    model: str | None = None

    def sent_to(self, model: str) -> Inquiry:
        """The same inquiry to another model, unless it names one already; a checkpoint is one of that other model."""
        checkpoint = self.model or ""
        if checkpoint and not (checkpoint.startswith(CHECKPOINT) and model.startswith("@")):
            return self
        sent = copy(self)
        sent.model = f"{model}{checkpoint}"
        return sent


class Question(Inquiry, ABC):
    """Something one can ask a model."""

    remembered: ClassVar[bool] = True
    weight: int = 1  # how many plain rows a row, or its answer, is as large as
    backward: ClassVar[bool] = False  # whether a row takes a backward pass

    @abstractmethod
    def rows(self, model: Speaker) -> Sequence[Hashable]:
        """What the engine asks, each row at most once."""

    def parts(self) -> Iterator[Question] | None:
        """Smaller questions, asked one after the other where this one is too large; their answers are `joined`."""
        return None

    def joined(self, answer: Any, following: Any) -> Any:
        """The answers of two parts, one after the other."""
        raise NotImplementedError

    @classmethod
    def sequences(cls, rows: Collection[Any]) -> int:
        """How many sequences the model reads for these rows."""
        return len(rows)

    @classmethod
    def generated(cls, values: Sequence[Any]) -> int:
        """How many tokens the model wrote for these answers."""
        return 0

    def assemble(self, values: Sequence[Any], model: Speaker) -> Any:
        """The answer, from the answers to the rows; by default these, in a list."""
        return list(values)


class OneRow(Question):
    """A question of one row, whose answer is the answer."""

    row: Any

    def rows(self, model: Speaker) -> Sequence[Any]:
        return [self.row]

    def assemble(self, values: Sequence[Any], model: Speaker) -> Any:
        return values[0]


def elsewhere(conversation: Conversation[T], model: str | None) -> Conversation[T]:
    """The same conversation with another model: inquiries that name none go to this one; None is the explained one."""
    return conversation if model is None else changed(conversation, lambda inquiry: inquiry.sent_to(model))


def changed(conversation: Conversation[T], change: Callable[[Inquiry], Inquiry]) -> Conversation[T]:
    """The same conversation with each of its inquiries changed."""
    go_on: Callable[[], Inquiry] = partial(next, conversation)
    while True:
        try:
            inquiry = go_on()
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        try:
            go_on = partial(conversation.send, (yield change(inquiry)))
        except Exception as error:
            go_on = partial(conversation.throw, error)
