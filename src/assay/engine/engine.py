"""The only door to a model: runs thousands of conversations together.

In each round the engine gathers the open questions of all conversations, drops the rows it has seen, sorts the rest by
length, packs full batches, asks the model, and sends the answers back. A method written for one text is thus batched
across texts, searches included, and a score does not depend on the company in which it was computed.
"""

from __future__ import annotations

import functools
import gc
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import compress
from typing import Any, Generic, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from assay.engine.cache import Disk, Memo
from assay.errors import AssayError, Unanswerable
from assay.explanations.about import Cost
from assay.models import TextModel, load
from assay.models.batching import Batcher
from assay.questions.base import Conversation, Question
from assay.questions.predict import Predict
from assay.statistics.arrays import Ints

T = TypeVar("T")


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What became of a conversation: its result or its error, and what it cost."""

    result: T | None
    error: Exception | None
    cost: Cost

    def get(self) -> T:
        if self.error is not None:
            raise self.error
        return self.result  # type: ignore[return-value]


@dataclass(eq=False)
class _Talk(Generic[T]):
    """One conversation under way, its open question and the rows of it."""

    conversation: Conversation[T]
    question: Question | None = None
    rows: Sequence[Hashable] = ()
    outcome: Outcome[T] | None = None
    cost: Cost = field(default_factory=Cost)

    @property
    def size(self) -> int:
        return self.question.sequences(self.rows) * self.question.weight if self.question else 0

    def go_on(self, answer: Any) -> None:
        """Give the answer (throw it, if it is an error) and take the next question."""
        try:
            throw, send = self.conversation.throw, self.conversation.send
            self.question = throw(answer) if isinstance(answer, Exception) else send(answer)
        except StopIteration as stop:
            self._end(stop.value, None)
        except AssayError as error:
            self._end(None, error)

    def _end(self, result: T | None, error: Exception | None) -> None:
        self.question, self.rows = None, ()
        self.outcome = Outcome(result, error, self.cost)


@contextmanager
def _no_collection() -> Iterator[None]:
    """A round makes many small objects and no cycles among them; looking for cycles would cost more than the round."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def _one_thread() -> AbstractContextManager[Any]:
    """The arithmetic of a method is small: starting the threads of numpy's BLAS would take longer than the work."""
    return _threads().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


class Engine:
    """Answers the questions of many conversations about one model.

    `budget` is the number of padded tokens a batch may hold (the model's own preference by default), `cache` a file
    that keeps predictions for the next run, `resolve` finds the other models that a question may name.
    """

    def __init__(
        self,
        model: TextModel,
        *,
        budget: int | None = None,
        cache: str | None = None,
        live: int = 1024,
        open_rows: int = 65_536,
        resolve: Callable[[str], TextModel] = load,
    ) -> None:
        self.model = model
        self.batcher = Batcher(budget or model.preferred_tokens)
        self.disk = Disk(cache, model.fingerprint()) if cache else None
        self.live, self.open_rows = live, open_rows
        self.totals = Cost()
        self.resolve = functools.cache(resolve)
        self._models: dict[str | None, TextModel] = {None: model}
        self._memos: dict[tuple[type[Question], str | None], Memo] = {}

    def ask(self, question: Question) -> Any:
        """The answer to one question."""

        def conversation() -> Conversation[Any]:
            return (yield question)

        return next(self.run([conversation()])).get()

    def run(self, conversations: Iterable[Conversation[T]]) -> Iterator[Outcome[T]]:
        """The outcomes, in the order of the conversations; at most `live` of them are held at once."""
        waiting = iter(conversations)
        talks: deque[_Talk[T]] = deque()
        while self._admit(waiting, talks):
            with _no_collection():
                self._round(self._eldest(talks))
            while talks and talks[0].outcome is not None:
                yield talks.popleft().outcome  # type: ignore[misc]

    def _admit(self, waiting: Iterator[Conversation[T]], talks: deque[_Talk[T]]) -> bool:
        """Open new conversations until there is enough to ask; false when all has been said."""
        rows = sum(talk.size for talk in talks)
        while len(talks) < self.live and rows < self.open_rows:
            conversation = next(waiting, None)
            if conversation is None:
                break
            talk = _Talk(conversation)
            self._advance(talk, None)
            talks.append(talk)
            rows += talk.size
        return bool(talks)

    def _eldest(self, talks: Iterable[_Talk[T]]) -> list[_Talk[T]]:
        """The first talks that have a question, as many as make a round: later ones wait, so that memory is bounded."""
        chosen: list[_Talk[T]] = []
        rows = 0
        for talk in talks:
            if talk.question is not None and (not chosen or rows + talk.size <= self.open_rows):
                chosen.append(talk)
                rows += talk.size
        return chosen

    def _advance(self, talk: _Talk[T], answer: Any) -> None:
        """Let a talk go on, and spell out the rows of its next question."""
        talk.go_on(answer)
        while talk.question is not None:
            try:
                talk.rows = talk.question.rows(self._model_for(talk.question))
                return
            except AssayError as error:
                talk.go_on(error)

    def _round(self, talks: Sequence[_Talk[T]]) -> None:
        """Answer all open questions, kind by kind."""
        groups: dict[tuple[type[Question], str | None], list[_Talk[T]]] = {}
        for talk in talks:
            assert talk.question is not None
            groups.setdefault((type(talk.question), talk.question.model), []).append(talk)
        for (kind, name), group in groups.items():
            answers = self._answers(kind, name, group)
            with _one_thread():
                for talk, answer in zip(group, answers, strict=True):
                    self._advance(talk, answer)

    def _answers(self, kind: type[Question], name: str | None, talks: Sequence[_Talk[T]]) -> list[Any]:
        """The answer, or the error, for each of these talks; a row that several ask is computed for the first."""
        memo = self._memos.setdefault((kind, name), Memo())
        fresh: dict[Hashable, int] = {}
        known, mine = [], []
        for talk in talks:
            start, found = len(fresh), list(map(memo.get, talk.rows))
            for row, answer in zip(talk.rows, found, strict=True):
                if answer is None:
                    fresh.setdefault(row, len(fresh))
            known.append(found)
            mine.append(slice(start, len(fresh)))
        new = list(fresh)
        values, tokens = self._compute(kind, name, new)
        if kind.remembered:
            memo.put(fresh, values)
        for talk, part in zip(talks, mine, strict=True):
            self._count(talk, kind, new[part], tokens[part])
        broken = any(isinstance(value, Exception) for value in values)
        return [self._assembled(t, found, fresh, values, broken) for t, found in zip(talks, known, strict=True)]

    def _assembled(
        self, talk: _Talk[T], found: list[Any], fresh: dict[Hashable, int], values: list[Any], broken: bool
    ) -> Any:
        """One answer out of the rows known before and the rows just computed."""
        assert talk.question is not None
        parts = [values[fresh[row]] if a is None else a for row, a in zip(talk.rows, found, strict=True)]
        error = next((part for part in parts if isinstance(part, Exception)), None) if broken else None
        return error or talk.question.assemble(parts, self._model_for(talk.question))

    def _compute(self, kind: type[Question], name: str | None, rows: list[Any]) -> tuple[list[Any], Ints]:
        """Answers to rows that memory does not hold: from the disk where it has them, else from the model."""
        model = self._models[name]
        if self.disk is None or kind is not Predict or name is not None:
            return self.batcher.answers(model, kind, rows)
        stored = self.disk.get(rows)
        missing = [i for i, value in enumerate(stored) if value is None]
        values, tokens = self.batcher.answers(model, kind, [rows[i] for i in missing])
        self.disk.put([rows[i] for i in missing], values)
        padded = np.zeros(len(rows), dtype=np.int64)
        padded[missing] = tokens
        answers: list[Any] = list(stored)
        for i, value in zip(missing, values, strict=True):
            answers[i] = value
        return answers, padded

    def _count(self, talk: _Talk[T], kind: type[Question], new: list[Hashable], tokens: Ints) -> None:
        asked, run = kind.sequences(talk.rows), kind.sequences(list(compress(new, tokens)))
        cost = Cost(asked, run, run if kind.backward else 0, int(tokens.sum()), asked - run)
        talk.cost += cost
        self.totals += cost

    def _model_for(self, question: Question) -> TextModel:
        """The model that a question is meant for; an error where it cannot answer such a question."""
        name = question.model
        if name not in self._models:
            derived = str(name).startswith("@")
            self._models[name] = self.model.derived(str(name)[1:]) if derived else self.resolve(str(name))
        model = self._models[name]
        if type(question) not in model.answers:
            raise Unanswerable(f"the model {model.name} cannot answer {type(question).__name__}.")
        return model
