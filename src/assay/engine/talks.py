"""Conversations under way: a tree, for a conversation may open others and wait for them.

A `Stream` is a stream of conversations and those of them that are under way, in order. The conversations that a user
gives to the engine are one; every open `Each` is another, whose results go to the talk that opened it. Results are
collected in order, so a source keeps at most as many talks as the engine lets live at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from assay.errors import AssayError
from assay.explanations.about import NOTHING, Cost
from assay.questions.base import Conversation, Inquiry, Question
from assay.questions.each import Each

T = TypeVar("T")


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What became of a conversation: its result or its error, and what it cost."""

    result: T | None
    error: Exception | None
    cost: Cost

    def get(self, where: str = "") -> T:
        """The result; an error says `where` it came up, as in "text 3"."""
        if where and isinstance(self.error, AssayError):
            raise type(self.error)(f"{where}: {self.error}") from self.error
        if self.error is not None:
            raise self.error
        return self.result  # type: ignore[return-value]


@dataclass(eq=False)
class Talk(Generic[T]):
    """One conversation, its open inquiry (with the rows of a question, or the children of an Each), and its outcome."""

    conversation: Conversation[T]
    inquiry: Inquiry | None = None
    rows: Sequence[Hashable] = ()
    size: int = 0  # how many plain rows its open question is as large as
    children: Children | None = None
    outcome: Outcome[T] | None = None
    cost: Cost = NOTHING

    def ask(self, question: Question, rows: Sequence[Hashable]) -> None:
        """Wait for the answers to these rows of its open question."""
        self.rows, self.size = rows, question.sequences(rows) * question.weight

    def go_on(self, answer: Any) -> None:
        """Give the answer (throw it, if it is an error) and take the next inquiry."""
        self.rows, self.size, self.children = (), 0, None
        try:
            throw, send = self.conversation.throw, self.conversation.send
            self.inquiry = throw(answer) if isinstance(answer, Exception) else send(answer)
        except StopIteration as stop:
            self._end(stop.value, None)
        except AssayError as error:
            self._end(None, error)

    def _end(self, result: T | None, error: Exception | None) -> None:
        self.inquiry = None
        self.outcome = Outcome(result, error, self.cost)

    def spent(self) -> Cost:
        """What it has cost so far, with all that it opened."""
        below = self.children.talks if self.children is not None else ()
        return sum((talk.spent() for talk in below), self.cost)

    def close(self) -> None:
        """Give up the conversation and all that it opened."""
        if self.children is not None:
            self.children.close()
        self.conversation.close()


class Stream(Generic[T]):
    """Conversations that are drawn when there is room for them, and the talks under way, in order."""

    def __init__(self, conversations: Iterable[Conversation[T]]) -> None:
        self._waiting: Iterator[Conversation[T]] = iter(conversations)
        self.exhausted = False
        self.talks: deque[Talk[T]] = deque()

    def draw(self) -> Conversation[T] | None:
        """The next conversation; None when there is no other one."""
        found = None if self.exhausted else next(self._waiting, None)
        self.exhausted = found is None
        return found

    def finished(self) -> Iterator[Outcome[T]]:
        """Take out the talks that have ended, as far as all before them have."""
        while self.talks and self.talks[0].outcome is not None:
            outcome = self.talks.popleft().outcome
            assert outcome is not None
            yield outcome

    def open_talks(self) -> Iterator[Talk[Any]]:
        """The talks, here and below, that wait for an answer of the engine, eldest first."""
        for talk in self.talks:
            if talk.children is not None:
                yield from talk.children.open_talks()
            elif talk.inquiry is not None:
                yield talk


class Children(Stream[Any]):
    """The conversations of an Each, and what their results come to so far."""

    def __init__(self, each: Each) -> None:
        super().__init__(each.conversations)
        self.each = each
        self.so_far: Any = [] if each.fold is None else each.start
        self.error: AssayError | None = None

    def draw(self) -> Conversation[Any] | None:
        """An error in the stream of children is an error of their parent."""
        try:
            return super().draw() if self.error is None else None
        except AssayError as error:
            self.error = error
            return None

    def collect(self) -> Cost:
        """Take in what has been finished, up to the first error; what it cost."""
        cost = NOTHING
        for outcome in self.finished():
            cost += outcome.cost
            self._take(outcome)
            if self.error is not None:  # those after it are given up, but what they have cost was spent for the parent
                return sum((talk.spent() for talk in self.talks), cost)
        return cost

    def _take(self, outcome: Outcome[Any]) -> None:
        if outcome.error is not None and not self.each.keep_errors:
            self.error = _ours(outcome.error)
            return
        result = outcome.result if outcome.error is None else outcome.error
        if self.each.fold is None:
            self.so_far.append(result)
            return
        try:
            self.so_far = self.each.fold(self.so_far, result)
        except AssayError as error:
            self.error = error

    @property
    def ended(self) -> bool:
        """Whether the parent can go on."""
        return self.error is not None or (self.exhausted and not self.talks)

    @property
    def answer(self) -> Any:
        return self.so_far if self.error is None else self.error

    def close(self) -> None:
        for talk in self.talks:
            talk.close()
        self.talks.clear()
        self.exhausted = True


def _ours(error: Exception) -> AssayError:
    """A talk ends by errors of ours only; all others leave the engine at once."""
    assert isinstance(error, AssayError)
    return error


class Load:
    """How much is open: talks that wait for an answer, and the rows they ask for."""

    def __init__(self, talks: int, rows: int) -> None:
        self.talks, self.rows = talks, rows
