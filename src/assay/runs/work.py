"""The work on one shard: every method on every row, every check on every explanation, in one engine.

Each shard gets an engine of its own, without anything remembered from another shard. Within it rows are batched across
texts; but no number, not even a count of cache hits, depends on which shards went before or where. That is what makes
the results of all executors the same bits on machines of one kind: the engine itself promises 1e-5 in other company.
An exception of a method or a model is that row's error; where a whole batch cannot be had, rows are asked one by one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

from assay.engine.engine import Engine, Outcome
from assay.errors import AssayError, ModelFailed, NonFiniteAnswer
from assay.explanations.about import Cost
from assay.explanations.base import Explanation
from assay.models import TextModel, load
from assay.questions.base import Conversation
from assay.registry.finding import find_method
from assay.registry.measured import Measured
from assay.runs.schema import Entry, about_json, named, table_of
from assay.text.example import Example
from assay.verbs import Aims, explained, provenance
from assay.verdicts.judge import prepared_for, random_maps

Tell = Callable[[int], None]


@dataclass(frozen=True)
class Job:
    """What a worker must know; it travels to other machines."""

    model: Any
    device: str | None
    threads: int
    methods: tuple[tuple[str, Any], ...]
    checks: tuple[tuple[str, Any], ...]
    draws: int
    aims: Aims
    plan: str

    def load(self) -> TextModel:
        return load(self.model, device=self.device)


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
            with _threads(self.job.threads):
                columns.append(self._told(engine, name, method, shard.rows, tell))
            seconds[name] = perf_counter() - began
        entries = [entry for row in zip(*columns, strict=True) for entry in row]
        data = packed(table_of(entries), shard.number, len(shard.rows), self.job.plan)
        errors = sum(entry.error is not None for entry in entries)
        return Finished(shard.number, data, len(shard.rows), errors, engine.totals, seconds)

    def _told(self, engine: Engine, name: str, method: Any, rows: Sequence[Example], tell: Tell) -> list[Entry]:
        """One method on all rows, and every check on what it told."""
        entries = list(self.explained(engine, name, method, rows, tell))
        for check, one in self.job.checks:
            self._check(engine, check, one, entries)
        return entries

    def _engine(self) -> Engine:
        return Engine(self.model, resolve=self.resolve)

    def explained(self, engine: Engine, name: str, method: Any, rows: Sequence[Example], tell: Tell) -> Iterator[Entry]:
        about = provenance(find_method(name), method, self.model, 0)
        common = about_json(about)

        def talk(row: Example) -> Conversation[Explanation]:
            aims = replace(self.job.aims, seed=row.seed(self.job.aims.seed))
            return _guarded(explained(self.model, method, row.text, aims), name)

        outcomes = self._outcomes(engine, [row for row in rows if row.error is None], talk)
        for row in rows:
            outcome = next(outcomes) if row.error is None else Outcome[Any](None, row.error, Cost())
            seed = row.seed(self.job.aims.seed)
            told = outcome.result and outcome.result.told(about=replace(about, cost=outcome.cost, seed=seed))
            yield Entry(row, name, seed, told, outcome.error, outcome.cost, common)
            tell(1)

    def _outcomes(self, engine: Engine, things: Sequence[Any], talk: Callable[[Any], Conversation[Any]]) -> Any:
        """All together; if that cannot be had, because an error is nobody's own, one by one."""
        done = 0
        try:
            for outcome in engine.run(map(talk, things)):
                yield outcome
                done += 1
        except Exception as error:
            if isinstance(error, MemoryError | OSError):
                raise
            for thing in things[done:]:
                yield self._alone(talk(thing))

    def _alone(self, conversation: Conversation[Any]) -> Outcome[Any]:
        try:
            return next(self._engine().run([conversation]))
        except Exception as error:
            return Outcome(None, _as_ours(error, "the model"), Cost())

    def _check(self, engine: Engine, name: str, check: Any, entries: Iterable[Entry]) -> None:
        """Score every explanation and random ones of the same text; what the check learns, it learns from the shard."""
        told = [entry for entry in entries if entry.explanation is not None]
        if not told:
            return
        maps: list[Any] = [entry.explanation for entry in told]
        sets = [maps, *zip(*(random_maps(e, self.job.draws) for e in maps), strict=True)]
        prepared = [prepared_for(check, one) for one in sets]
        uses = getattr(prepared[0], "uses", lambda e: True)
        used = [i for i, e in enumerate(maps) if uses(e)]
        for i, said in zip(used, self._examined(engine, name, prepared, sets, used), strict=True):
            told[i].checks.append(_measured(name, said))

    def _examined(
        self, engine: Engine, name: str, checks: Sequence[Any], sets: Sequence[Sequence[Any]], used: Sequence[int]
    ) -> Iterator[list[Outcome[Any]]]:
        """For each text the outcomes for its explanation and its random maps.

        A check that holds all maps of a text against one thing, such as the map of another model, asks for it once.
        """
        pairs = list(zip(checks, sets, strict=True))
        if not hasattr(checks[0], "against"):
            talks = [(one, drawn[i]) for i in used for one, drawn in pairs]
            outcomes = self._outcomes(engine, talks, lambda talk: _guarded(talk[0].examine(talk[1]), name))
            yield from ([next(outcomes) for _ in pairs] for _ in used)
            return
        known = self._outcomes(engine, used, lambda i: _guarded(checks[0].against(sets[0][i]), name))
        for i, outcome in zip(used, known, strict=True):
            yield [_held(one, drawn[i], outcome) for one, drawn in pairs]


@contextmanager
def _threads(number: int) -> Iterator[None]:
    """The plan's number of threads, where there is torch to use them; afterwards as many as before."""
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 0
    try:
        if torch:
            torch.set_num_threads(number)
        yield
    finally:
        if torch:
            torch.set_num_threads(before)


def _guarded(conversation: Conversation[Any], who: str) -> Conversation[Any]:
    """An exception that nobody named is the end of this conversation only."""
    try:
        return (yield from conversation)
    except AssayError:
        raise
    except Exception as error:
        raise _as_ours(error, who) from error


def _held(check: Any, drawn: Any, known: Outcome[Any]) -> Outcome[Any]:
    """What a check measures once it knows what to hold a map against."""
    return known if known.error else replace(known, result=check.measure(drawn, known.result))


def _as_ours(error: Exception, who: str) -> AssayError:
    return error if isinstance(error, AssayError) else ModelFailed(f"{who} failed: {type(error).__name__}: {error}")


def _measured(name: str, outcomes: Sequence[Outcome[Any]]) -> dict[str, Any]:
    """One check's say about one explanation: its score first, then those of the random ones."""
    error = next((outcome.error for outcome in outcomes if outcome.error is not None), None)
    if error is not None:
        return {"check_name": name, "score": None, "random": None, "facts": [], **named(error)}
    told = [Measured.of(outcome.get()) for outcome in outcomes]
    scores = [float(one.score) for one in told]
    facts = [{"name": key, "value": float(value)} for key, value in told[0].facts.items()]
    if not np.isfinite([*scores, *told[0].facts.values()]).all():
        error = NonFiniteAnswer("the check measured NaN or infinity.")
        return {"check_name": name, "score": None, "random": None, "facts": [], **named(error)}
    return {"check_name": name, "score": scores[0], "random": scores[1:], "facts": facts, **named(None)}
