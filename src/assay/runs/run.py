"""A run: read the directory, do what is missing, verify all, say that it is done.

    plan -> lock -> shards that count -> executor on the missing ones -> full verify -> verdicts, DONE

Killed at any instant, the same command goes on; at most one shard per worker is done again.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from assay.errors import AssayError, BadFile, BadInput, Interrupted, Stopped
from assay.models import TextModel
from assay.registry.finding import find_check, find_method, require
from assay.registry.parameters import parameters
from assay.runs import executors, observers, source
from assay.runs.directory import VERDICTS, Directory
from assay.runs.journal import Journal
from assay.runs.plan import Plan, agreed
from assay.runs.progress import Progress, Tracker
from assay.runs.work import Finished, Job, Shard
from assay.storage.durable import is_full
from assay.storage.lock import Lock
from assay.text.columns import Columns
from assay.text.example import Example
from assay.verbs import Aims, card_and_object, label_index, versions
from assay.verdicts.judge import default_draws, require_readable


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is to be run, as a user says it; methods and checks are names or objects."""

    input: str
    out: Path
    model: Any
    methods: Sequence[Any]
    checks: Sequence[Any] = ()
    aims: Aims = Aims()
    columns: Columns = Columns()
    form: str | None = None
    limit: int | None = None
    draws: int | None = None
    shard_size: int = 512
    threads: int | None = None
    device: str | None = None
    executor: str = "inline"
    workers: int | None = None
    gpus_per_worker: float = 0.0
    address: str | None = None
    max_error_rate: float = 0.05
    command: str = "the same command"


@dataclass(frozen=True)
class Summary:
    """What a run comes to."""

    directory: Path
    plan: Plan
    progress: Progress
    cells: int

    @property
    def error_rate(self) -> float:
        return self.progress.errors / self.cells


def run(request: Request, watchers: Sequence[observers.Observer] = ()) -> Summary:
    """Run or go on with a run; `Stopped` where it ended part-way."""
    cards = [card_and_object(one, {}, find_method) for one in request.methods]
    tests = [card_and_object(one, {}, find_check) for one in request.checks]
    execute = executors.find(request.executor)
    with ExitStack() as stack:
        tracker = Tracker(len(cards))
        stack.enter_context(_resumable(request, tracker))
        directory = stack.enter_context(_directory(request.out))
        lock = stack.enter_context(_locked(directory, tracker, watchers))
        given = _input(request, directory)
        job, model, plan = _planned(request, directory, given, cards, tests)
        mine = model if request.executor == "inline" else None
        del model  # workers elsewhere load their own
        options = executors.Options(request.workers, request.gpus_per_worker, request.address, mine, tracker.tell)
        session = _Session(directory, plan, tracker, lock, watchers, given)
        return session.go(lambda shards: execute(job, shards, options))


def _input(request: Request, directory: Directory) -> source.Input:
    """What is to be read; where it is gone since a run began, the way to go on."""
    try:
        found = source.find(request.input, directory.path, request.form)
        return source.Input.of(found, request.columns, request.limit)
    except BadFile as error:
        if not directory.planned:
            raise
        raise BadFile(f"{error} {request.out} holds a run of it; when it is back: {request.command}") from error


def _planned(
    request: Request, directory: Directory, given: source.Input, cards: list[Any], tests: list[Any]
) -> tuple[Job, TextModel, Plan]:
    """The job and its plan; what a directory already says about threads holds for a resume too."""
    given.table.require_unchanged()
    rows = given.count()
    device = request.device or ("cuda" if request.gpus_per_worker else None)
    job = Job(
        model=request.model,
        device=device,
        threads=request.threads or _threads_before(directory) or _cores(),
        methods=tuple((card.name, made) for card, made in cards),
        checks=tuple((card.name, made) for card, made in tests),
        draws=request.draws or default_draws(rows),
        aims=request.aims,
        plan="",
    )
    model = job.load() if request.executor == "inline" else replace(job, device=None).load()
    _require_possible(request, model, cards, tests)
    plan = agreed(directory.path, Plan(_settings(request, job, model, given, rows), _notes(request, given)))
    return replace(job, plan=plan.digest), model, plan


def _require_possible(request: Request, model: TextModel, cards: list[Any], tests: list[Any]) -> None:
    """What no row could get past is an error of the whole run."""
    for card, made in (*cards, *tests):
        require(card, model.answers, model.name, made)
    for card, _ in tests:
        require_readable(card, [made for _, made in cards])
    if callable(request.aims.split):
        raise BadInput("a run takes a splitter by its name: a function cannot be kept in the plan.")
    for label in (request.aims.target, request.aims.against):
        if label is not None:
            label_index(model, label)
    if len(model.fields) == 2 and request.columns.pair is None:
        raise BadInput(f"the model {model.name} reads pairs ({', '.join(model.fields)}); name --pair-column too.")


def _settings(request: Request, job: Job, model: TextModel, given: source.Input, rows: int) -> dict[str, Any]:
    aims = {name: value for name, value in asdict(request.aims).items() if name != "seed"}
    return {
        "input": {"digest": given.table.fingerprint(), "rows": rows, **asdict(given.columns)},
        "model": {"name": model.name, "fingerprint": _fingerprint(model), "labels": list(model.labels)},
        "device": job.device or "cpu",
        "threads": job.threads,
        "methods": {name: parameters(made) for name, made in job.methods},
        "checks": {name: parameters(made) for name, made in job.checks},
        "draws": job.draws,
        "explained": aims,
        "seed": request.aims.seed,
        "shard_size": request.shard_size,
        "versions": dict(versions()),
    }


def _notes(request: Request, given: source.Input) -> dict[str, Any]:
    return {"input": given.table.name, "executor": request.executor, "command": request.command}


def _fingerprint(model: TextModel) -> str:
    try:
        return model.fingerprint()
    except BadInput:  # a function that cannot be pickled has no fingerprint but its name
        return "none"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _threads_before(directory: Directory) -> int | None:
    try:
        return int(Plan.at(directory.path).settings["threads"])
    except (BadInput, KeyError):
        return None


class _Session:
    """One sitting of a run: from what the directory holds to DONE."""

    def __init__(
        self,
        directory: Directory,
        plan: Plan,
        tracker: Tracker,
        lock: Lock,
        watchers: Sequence[observers.Observer],
        given: source.Input,
    ) -> None:
        self.directory, self.plan, self.tracker, self.lock = directory, plan, tracker, lock
        self.watchers, self.given = watchers, given
        self.journal = Journal(directory.path)

    def go(self, execute: Any) -> Summary:
        good = self._accepted()
        missing = set(range(self.plan.shards)) - set(good)
        rows = sum(len(self.plan.rows_of(number)) for number in good)
        self.tracker.begin(self.plan, rows, len(good), _errors(good.values()))
        self.journal.note("began", shards=len(good), missing=len(missing))
        for watcher in self.watchers:
            watcher.began(self.plan)
        if missing:
            for finished in execute(self._shards(missing)):
                self._keep(finished)
        self._finish()
        summary = Summary(self.directory.path, self.plan, self.tracker.now(), self.plan.rows * len(self.plan.methods))
        for watcher in self.watchers:
            watcher.ended(self.tracker.now())
        return summary

    def _accepted(self, *, deep: bool = False) -> dict[int, Path]:
        """The shards that count; what does not count is set aside."""
        good, bad = self.directory.accepted(self.plan, deep=deep)
        for path, why in bad:
            self.directory.set_aside(path)
            self.journal.note("set aside", file=path.name, why=why)
        return good

    def _shards(self, missing: set[int]) -> Iterator[Shard]:
        """The missing shards as the input goes by; each is made of rows of the planned input or not at all."""
        first = min(missing)
        rows = self.given.sample.rows(self.plan.rows_of(first).start)
        for number in range(first, self.plan.shards):
            some = self._slice(rows, len(self.plan.rows_of(number)))
            if number not in missing:
                continue
            self.given.table.require_unchanged()
            self.journal.note("handed out", shard=number)
            yield Shard(number, some)

    def _slice(self, rows: Iterator[Example], size: int) -> tuple[Example, ...]:
        try:
            some = tuple(islice(rows, size))
        except BadFile as error:
            raise Stopped(f"{str(error).rstrip('.')}; it could be read when the run was planned") from error
        if len(some) != size:
            raise Stopped("the input has fewer rows than when the run was planned; put the old file back")
        return some

    def _keep(self, finished: Finished) -> None:
        from assay.runs.shard import write

        self.lock.require()
        write(self.directory.shards, finished.shard, finished.data)
        self.tracker.keep(finished.rows, finished.errors, finished.cost)
        facts = {"rows": finished.rows, "errors": finished.errors, "seconds": finished.seconds}
        self.journal.note("kept", shard=finished.shard, **facts, cost=asdict(finished.cost))

    def _finish(self) -> None:
        """Everything is read once more, in full, before DONE is written."""
        from assay.runs.store import Run
        from assay.runs.verdicts import write

        good = self._accepted(deep=True)
        if lacking := sorted(set(range(self.plan.shards)) - set(good)):
            raise Stopped(f"shard {lacking[0]} did not stand the last check and is to be done again")
        self.given.table.require_unchanged()
        write(self.directory.path / VERDICTS, Run(self.directory, self.plan).verdicts())
        contents = "".join(_footer(good[number]).content for number in sorted(good))
        digest = blake2b(contents.encode(), digest_size=16).hexdigest()
        facts = {"plan": self.plan.digest, "content": digest, "rows": self.plan.rows, "shards": self.plan.shards}
        self.directory.finish({**facts, "errors": self.tracker.errors})
        self.journal.note("done", errors=self.tracker.errors)


def _footer(path: Path) -> Any:
    import pyarrow.parquet as pq

    from assay.runs.shard import Footer

    return Footer.read(pq.read_schema(path).metadata)


def _errors(paths: Any) -> int:
    """How many cells of these shards hold an error."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    return sum(int(pc.sum(pc.not_equal(_status(pq, path), "ok")).as_py() or 0) for path in paths)


def _status(pq: Any, path: Path) -> Any:
    return pq.read_table(path, columns=["status"]).column("status")


@contextmanager
def _directory(path: Path) -> Iterator[Directory]:
    """The directory; where what was asked for cannot be run at all, it is left as it was."""
    before = {p.name for p in path.iterdir()} if path.is_dir() else None
    directory = Directory.made(path)
    try:
        yield directory
    except Stopped:
        raise
    except AssayError:
        directory.leave(before)
        raise


@contextmanager
def _locked(directory: Directory, tracker: Tracker, watchers: Sequence[observers.Observer]) -> Iterator[Lock]:
    """The lock; at every beat the state is saved and shown."""

    def beat() -> None:
        if tracker.rows:
            tracker.save(directory.path)
            for watcher in watchers:
                watcher.moved(tracker.now())

    with Lock(directory.path, beat) as lock:
        try:
            yield lock
        finally:
            with suppress(OSError):
                tracker.save(directory.path)


@contextmanager
def _resumable(request: Request, tracker: Tracker) -> Iterator[None]:
    """Within it, whatever ends the run part-way is one sentence with the way to go on."""
    try:
        with _terminable():
            yield
    except Stopped as error:
        raise Stopped(_how_to_go_on(str(error), request, tracker)) from error
    except _Terminated:
        raise Stopped(_how_to_go_on("stopped", request, tracker)) from None
    except KeyboardInterrupt:
        raise Interrupted(_how_to_go_on("stopped by Ctrl-C", request, tracker)) from None
    except (OSError, MemoryError) as error:
        raise _ended_by(error, request, tracker) from error


def _ended_by(error: OSError | MemoryError, request: Request, tracker: Tracker) -> AssayError:
    """Before anything could be read or written, a directory that cannot be used is the user's to mend."""
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    if isinstance(error, OSError) and not tracker.rows and not is_full(error):
        refused = f"{request.out} cannot be used for a run: {said}"
        return BadFile(f"{refused}. Use another --out, or mend that and go on: {request.command}")
    return Stopped(_how_to_go_on(f"the run cannot go on: {said}", request, tracker))


def _how_to_go_on(what: str, request: Request, tracker: Tracker) -> str:
    kept = f"{tracker.kept:,} of {f'{tracker.rows:,}' if tracker.rows else '?'} rows are kept in {request.out}"
    return f"{what.rstrip('.')}; {kept}. To go on: {request.command}"


class _Terminated(KeyboardInterrupt):
    """A kill that lets the run end by itself."""


@contextmanager
def _terminable() -> Iterator[None]:
    """A polite kill stops the run like Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
