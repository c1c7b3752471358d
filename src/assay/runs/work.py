"""The work on one shard: every method on every row, every check on every explanation, in one engine.

Each shard gets an engine of its own, without anything remembered from another shard. Within it rows are batched across
texts; but no number, not even a count of cache hits, depends on which shards went before or where. That is what makes
the results of all executors the same bits on machines of one kind: the engine itself promises 1e-5 in other company.
An exception of a method or a model is that row's error; where a whole batch cannot be had, rows are asked one by one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from time import perf_counter
from typing import Any, Protocol, TypeVar

from assay.engine.engine import Engine, Outcome
from assay.engine.threads import computing_with
from assay.errors import AssayError, ModelFailed
from assay.explanations.about import Cost
from assay.explanations.reading import Explains
from assay.explanations.text_explanation import TextExplanation
from assay.models import TextModel, load
from assay.questions.base import Conversation
from assay.registry.finding import find_method
from assay.registry.protocols import Check
from assay.request import Aims, ModelLike
from assay.runs.schema import Entry, about_json, check_record, table_of
from assay.text.example import Example
from assay.verbs import explained, provenance, with_provenance
from assay.verdicts.measuring import measure, with_random

T = TypeVar("T")
Tell = Callable[[int], None]


class Hand(Protocol):
    """Who works on shards."""

    def work(self, shard: Shard, tell: Tell = ...) -> Any: ...


class Work(Protocol):
    """What executors need to know of a job: a run's, or another that goes shard by shard."""

    @property
    def threads(self) -> int: ...
    def worker(self, model: TextModel | None = None) -> Hand: ...


@dataclass(frozen=True)
class Job:
    """What a worker on a run must know; it travels to other machines."""

    model: ModelLike
    device: str | None
    threads: int
    methods: tuple[tuple[str, Explains[Any]], ...]
    checks: tuple[tuple[str, Check[Any]], ...]
    draws: int
    aims: Aims
    plan: str

    def load(self) -> TextModel:
        return load(self.model, device=self.device)

    def worker(self, model: TextModel | None = None) -> Worker:
        return Worker(self, model)


@dataclass(frozen=True)
class Shard:
    """A slice of the rows."""

    number: int
    rows: tuple[Example, ...]


@dataclass(frozen=True)
class Finished:
    """The bytes of a shard's file, and what it took; only the bytes are kept among the results."""

    shard: int
    data: bytes
    rows: int
    errors: int
    cost: Cost
    seconds: dict[str, float] = field(default_factory=dict)


class Worker:
    """One model, ready to work on shards."""

    def __init__(self, job: Job, model: TextModel | None = None) -> None:
        find_method("random")  # finds all methods and checks: those of a pickled job must be registered here too
        self.job, self.model = job, model or job.load()
        self.resolve = cache(load)

    def work(self, shard: Shard, tell: Tell = lambda cells: None) -> Finished:
        from assay.runs.shard import packed

        engine, seconds = self._engine(), {}
        columns = []
        for name, method in self.job.methods:
            began = perf_counter()
            with computing_with(self.job.threads if "torch" in sys.modules else None):
                columns.append(self._entries(engine, name, method, shard.rows, tell))
            seconds[name] = perf_counter() - began
        entries = [entry for row in zip(*columns, strict=True) for entry in row]
        data = packed(table_of(entries), shard.number, len(shard.rows), self.job.plan)
        errors = sum(entry.error is not None for entry in entries)
        return Finished(shard.number, data, len(shard.rows), errors, engine.totals, seconds)

    def _entries(
        self, engine: Engine, name: str, method: Explains[Any], rows: Sequence[Example], tell: Tell
    ) -> list[Entry]:
        """One method on all rows, and every check on its explanations."""
        entries = list(self.explained(engine, name, method, rows, tell))
        self._check(engine, [(entry, e) for entry in entries if (e := entry.explanation) is not None])
        return entries

    def _engine(self) -> Engine:
        return Engine(self.model, resolve=self.resolve)

    def explained(
        self, engine: Engine, name: str, method: Explains[Any], rows: Sequence[Example], tell: Tell
    ) -> Iterator[Entry]:
        """An entry for each row; its randomness comes from the seed of the run and the text, as everywhere."""
        aims, about = self.job.aims, provenance(find_method(name), method, self.model, self.job.aims.seed)
        common = about_json(about)
        readable = [row for row in rows if row.error is None]
        talks = [partial(explained, self.model, method, row.text, aims) for row in readable]
        outcomes = self._outcomes(engine, name, talks)
        for row in rows:
            outcome = next(outcomes) if row.error is None else Outcome[TextExplanation](None, row.error, Cost())
            e = outcome.result and with_provenance(outcome.result, about, outcome.cost)
            shared = common if e and e.about.labels == about.labels else ""  # a label may have a name of its own
            yield Entry(row, name, aims.seed, e, outcome.error, outcome.cost, shared)
            tell(1)

    def _outcomes(
        self, engine: Engine, who: str, talks: Sequence[Callable[[], Conversation[T]]]
    ) -> Iterator[Outcome[T]]:
        """All together; if that cannot be had, because an error is nobody's own, one by one."""
        done = 0
        try:
            for outcome in engine.run(_guarded(begin, who) for begin in talks):
                yield outcome
                done += 1
        except Exception as error:
            if isinstance(error, MemoryError | OSError):
                raise
            for begin in talks[done:]:
                yield self._alone(_guarded(begin, who))

    def _alone(self, conversation: Conversation[T]) -> Outcome[T]:
        try:
            return next(self._engine().run([conversation]))
        except Exception as error:
            return Outcome(None, _as_ours(error, "the model"), Cost())

    def _check(self, engine: Engine, explained: Sequence[tuple[Entry, TextExplanation]]) -> None:
        """Put the explanations to every check; what a check learns from a set, it learns from the shard."""
        if not explained or not self.job.checks:
            return
        sets = with_random([e for _, e in explained], self.job.draws)
        for name, check in self.job.checks:
            results = measure(check, sets, partial(self._outcomes, engine, name))
            for (entry, _), result in zip(explained, results, strict=True):
                entry.checks.append(check_record(name, result))


def _guarded(begin: Callable[[], Conversation[T]], who: str) -> Conversation[T]:
    """An exception that nobody named is the end of this conversation only."""
    try:
        return (yield from begin())
    except AssayError:
        raise
    except Exception as error:
        raise _as_ours(error, who) from error


def _as_ours(error: Exception, who: str) -> AssayError:
    return error if isinstance(error, AssayError) else ModelFailed(f"{who} failed: {type(error).__name__}: {error}")
