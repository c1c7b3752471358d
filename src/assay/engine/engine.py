"""The only door to a model: runs thousands of conversations together.

In each round the engine gathers the open questions of all conversations, those opened by other conversations included,
drops the rows it has seen, sorts the rest by length, packs full batches, asks the model, and sends the answers back. A
method written for one text is thus batched across texts, searches included, and a score does not depend on the company
in which it was computed. Questions for one model go together: of the models that are open questions' only as many take
part in a round as can be held at once, those of the eldest conversations first.

Several threads may use one engine: each leads its own conversations, and they have their rounds in turn.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from copy import copy
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from assay.engine.cache import Disk, Memo
from assay.engine.models import Facts, Models
from assay.engine.talks import Children, Load, Stream, Talk
from assay.engine.talks import Outcome as Outcome
from assay.engine.threads import no_collection, one_thread
from assay.errors import AssayError, Unanswerable
from assay.explanations.about import Cost
from assay.explanations.reading import read
from assay.models import TextModel, load
from assay.models.batching import Batcher, holds_errors
from assay.models.turn import Turn
from assay.questions.aims import Aims
from assay.questions.base import Conversation, Inquiry, Question, elsewhere
from assay.questions.cases import Cases
from assay.questions.each import Each
from assay.questions.facts import ModelFacts
from assay.questions.once import Once
from assay.questions.portions import asked
from assay.questions.predict import Predict
from assay.questions.randomness import Randomness
from assay.questions.train import Train
from assay.statistics.arrays import Ints
from assay.training.trained import TrainedModels

T = TypeVar("T")
_MEMOS = 16  # kinds of question times models whose answers are remembered
_SHARED = 8  # results of `Once` that are kept


class Engine:
    """Answers the inquiries of many conversations about one model.

    `budget` is the number of padded tokens a batch may hold (the model's own preference by default), `cache` a file
    that keeps predictions for the next run, `resolve` finds the other models that a question may name. `trained` is the
    directory of the models that conversations train; without it they are trained into a temporary one.
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
        trained: str | Path | None = None,
    ) -> None:
        self.model = model
        self.batcher = Batcher(budget or model.preferred_tokens)
        self.disk = Disk(cache, model.fingerprint()) if cache else None
        self.live, self.open_rows = live, open_rows
        self.totals = Cost()
        self.resolve = resolve
        self.trained = TrainedModels(trained)
        self.models = Models(model, resolve, self.trained.open)
        self._memos: OrderedDict[tuple[type[Question], str | None], Memo] = OrderedDict()
        self._shared: OrderedDict[tuple[Hashable, str | None], Any] = OrderedDict()
        self._turn = Turn()

    def storing_in(self, place: str | Path) -> Engine:
        """The same engine, with the models that conversations train in this directory."""
        other = copy(self)
        other.trained = TrainedModels(place)
        other.models = Models(self.model, self.resolve, other.trained.open)
        return other

    def ask(self, inquiry: Inquiry) -> Any:
        """The answer to one inquiry."""

        def conversation() -> Conversation[Any]:
            return (yield inquiry)

        return next(self.run([conversation()])).get()

    def run(self, conversations: Iterable[Conversation[T]]) -> Iterator[Outcome[T]]:
        """The outcomes, in the order of the conversations; at most `live` of them are held at once."""
        source = Stream(conversations)
        while self._admit(source):
            with self._turn, no_collection:
                self._round(self._chosen(source))
            self._gather(source)
            yield from source.finished()

    def _admit(self, source: Stream[T]) -> bool:
        """Open new conversations until there is enough to ask; false when all has been said."""
        sizes = [talk.size for talk in source.open_talks()]
        with no_collection:
            self._fill(source, Load(len(sizes), sum(sizes)))
        return bool(source.talks)

    def _fill(self, source: Stream[Any], load: Load) -> None:
        """Draw conversations, children of the eldest first: a parent that waits holds memory until it has ended."""
        for talk in source.talks:
            if talk.children is not None:
                self._fill(talk.children, load)
        while len(source.talks) < self.live and load.talks < self.live and load.rows < self.open_rows:
            conversation = source.draw()
            if conversation is None:
                break
            new: Talk[Any] = Talk(conversation)
            self._advance(new, None)
            source.talks.append(new)
            if new.children is not None:
                self._fill(new.children, load)
            elif new.inquiry is not None:
                load.talks, load.rows = load.talks + 1, load.rows + new.size

    def _gather(self, source: Stream[Any]) -> None:
        """Let parents go on whose children have all ended, from the innermost outwards."""
        for talk in source.talks:
            while (children := talk.children) is not None:
                self._gather(children)
                talk.cost += children.collect()
                if not children.ended:
                    break
                children.close()
                self._advance(talk, children.answer)

    def _chosen(self, source: Stream[T]) -> list[Talk[Any]]:
        """The eldest talks that make a round: later ones, and those of further models, wait, to bound the memory."""
        waiting = list(source.open_talks())
        models = self.models.together(talk.inquiry.model for talk in waiting if talk.inquiry)
        chosen: list[Talk[Any]] = []
        rows = 0
        for talk in waiting:
            assert talk.inquiry is not None
            if talk.inquiry.model in models and (not chosen or rows + talk.size <= self.open_rows):
                chosen.append(talk)
                rows += talk.size
        return chosen

    def _advance(self, talk: Talk[Any], answer: Any) -> None:
        """Let a talk go on, and get ready what it asks for next: the rows of a question, or further conversations."""
        talk.go_on(answer)
        while talk.inquiry is not None:
            try:
                match talk.inquiry:
                    case Question() as question if (parts := question.parts()) is not None:
                        talk.children = Children(Each(map(asked, parts), fold=partial(_joined, question)))
                    case Question() as question:
                        talk.ask(question, question.rows(self._facts_for(question)))
                    case Each() as each:
                        talk.children = Children(each)
                    case Cases() as cases:
                        model, aims = self.models[cases.model], cases.aims or Aims()
                        readings = (read(model, source, aims, cases.predicted) for source in cases.texts)
                        talk.children = Children(Each(elsewhere(reading, cases.model) for reading in readings))
                    case ModelFacts() as wanted:
                        talk.go_on(self.models.facts(wanted.model))
                        continue
                    case Randomness() as numbers:
                        talk.go_on(numbers.generator())
                        continue
                return
            except AssayError as error:
                talk.go_on(error)

    def _round(self, talks: Sequence[Talk[Any]]) -> None:
        """Answer all open questions, kind by kind."""
        groups: dict[tuple[type[Inquiry], str | None], list[Talk[Any]]] = {}
        for talk in talks:
            assert talk.inquiry is not None
            groups.setdefault((type(talk.inquiry), talk.inquiry.model), []).append(talk)
        # Model by model, so that none is dropped and made again within a round.
        for (kind, name), group in sorted(groups.items(), key=lambda item: item[0][1] or ""):
            if issubclass(kind, Question):
                answers = self._answers(kind, name, group)
            else:
                answers = list(self._once(group) if issubclass(kind, Once) else self._train(group))
            with one_thread:
                for talk, answer in zip(group, answers, strict=True):
                    self._advance(talk, answer)

    def _train(self, talks: Sequence[Talk[Any]]) -> Iterator[Any]:
        """The name of each trained model, or the error; one that is there already is not trained again."""
        for talk in talks:
            assert isinstance(talk.inquiry, Train)
            train = talk.inquiry
            try:
                name, new = self.trained.train(train.recipe, train.sample, train.seed, train.dev)
                cost = Cost(trainings=int(new))
                talk.cost += cost
                self.totals += cost
                yield name
            except AssayError as error:
                yield error

    def _once(self, talks: Sequence[Talk[Any]]) -> Iterator[Any]:
        """The result that each waits for, or the error; the first who asks for a key bears the cost."""
        for talk in talks:
            assert isinstance(talk.inquiry, Once)
            key = talk.inquiry.key, talk.inquiry.model
            if key not in self._shared:
                outcome = next(self.run([elsewhere(talk.inquiry.conversation(), talk.inquiry.model)]))
                talk.cost += outcome.cost
                if outcome.error is not None:
                    yield outcome.error
                    continue
                self._shared[key] = outcome.result
                if len(self._shared) > _SHARED:
                    self._shared.popitem(last=False)
            yield self._shared[key]

    def _answers(self, kind: type[Question], name: str | None, talks: Sequence[Talk[Any]]) -> list[Any]:
        """The answer, or the error, for each of these talks; a row that several ask is computed for the first."""
        memo = self._memo(kind, name)
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
            self._count(talk, kind, new[part], tokens[part], kind.generated(values[part]))
        broken = holds_errors(values)
        return [self._assembled(t, found, fresh, values, broken) for t, found in zip(talks, known, strict=True)]

    def _assembled(
        self, talk: Talk[Any], found: list[Any], fresh: dict[Hashable, int], values: list[Any], broken: bool
    ) -> Any:
        """One answer out of the rows known before and the rows just computed."""
        assert isinstance(talk.inquiry, Question)
        parts = [values[fresh[row]] if a is None else a for row, a in zip(talk.rows, found, strict=True)]
        error = next((part for part in parts if isinstance(part, Exception)), None) if broken else None
        return error or talk.inquiry.assemble(parts, self.models.facts(talk.inquiry.model))

    def _compute(self, kind: type[Question], name: str | None, rows: list[Any]) -> tuple[list[Any], Ints]:
        """Answers to rows that memory does not hold: from the disk where it has them, else from the model."""
        model = self.models[name]
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

    def _count(self, talk: Talk[Any], kind: type[Question], new: list[Hashable], tokens: Ints, generated: int) -> None:
        padded = tokens.tolist()
        asked, run = kind.sequences(talk.rows), kind.sequences(list(compress(new, padded)))
        cost = Cost(asked, run, run if kind.backward else 0, sum(padded), asked - run, generated)
        talk.cost += cost
        self.totals += cost

    def _facts_for(self, question: Question) -> Facts:
        """The facts of the model that a question is meant for; an error where it cannot answer such a question."""
        facts = self.models.facts(question.model)
        if type(question) not in facts.answers:
            why = f": {facts.missing[type(question)]}." if type(question) in facts.missing else "."
            raise Unanswerable(f"the model {facts.name} cannot answer {type(question).__name__}{why}")
        return facts

    def _memo(self, kind: type[Question], name: str | None) -> Memo:
        """What is remembered of these answers; of models that were not asked for long, it is forgotten."""
        memo = self._memos.setdefault((kind, name), Memo())
        self._memos.move_to_end((kind, name))
        if len(self._memos) > _MEMOS:
            self._memos.popitem(last=False)
        return memo


def _joined(question: Question, so_far: Any, answer: Any) -> Any:
    return answer if so_far is None else question.joined(so_far, answer)
