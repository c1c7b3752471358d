"""A run: read the directory, do what is missing, verify all, say that it is done.

    lock -> plan -> shards that count -> executor on the missing ones -> full verify -> verdicts, DONE

Killed at any instant, the same command goes on; at most one shard per worker is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from assay.errors import BadFile, BadInput, Stopped
from assay.request import Request, TextSource
from assay.runs import executors, observers, source
from assay.runs.directory import VERDICTS, Directory
from assay.runs.execution import Execution
from assay.runs.holding import held
from assay.runs.journal import Journal
from assay.runs.plan import RunPlan
from assay.runs.planning import found, planned
from assay.runs.progress import Progress, Tracker
from assay.runs.stopping import resumable
from assay.runs.work import Finished, Shard
from assay.storage.lock import Lock
from assay.text.columns import Columns
from assay.text.example import Example


@dataclass(frozen=True)
class Summary:
    """What a run comes to."""

    directory: Path
    plan: RunPlan
    progress: Progress
    cells: int

    @property
    def error_rate(self) -> float:
        return self.progress.errors / self.cells


def run(request: Request, execution: Execution, watchers: Sequence[observers.Observer] = ()) -> Summary:
    """Run or go on with a run; `Stopped` where it ended part-way."""
    methods, checks = found(request)
    execute = executors.find(execution.executor)
    with ExitStack() as stack:
        tracker = Tracker(len(methods))
        stack.enter_context(resumable(execution, tracker))
        directory, lock = stack.enter_context(_held(execution.out, tracker, watchers))
        given = _input(request, execution, directory)
        job, model, plan = planned(request, execution, directory, given, methods, checks)
        directory.furnish()
        mine = model if execution.executor == "inline" else None
        del model  # workers elsewhere load their own
        options = executors.Options(execution.workers, execution.gpus_per_worker, execution.address, mine, tracker.tell)
        session = _Session(directory, plan, tracker, lock, watchers, given)
        return session.go(lambda shards: execute(job, shards, options))


def _input(request: Request, execution: Execution, directory: Directory) -> source.Input:
    """What is to be read; where it is gone since a run began, the way to go on."""
    asked = request.texts
    if not isinstance(asked, TextSource) or asked.file is None:
        raise BadInput("a run reads its texts from a file; give Request(texts=TextSource(file=...)).")
    columns = Columns(asked.column, asked.pair_column, asked.id_column, asked.label_column)
    try:
        return source.Input.of(source.find(str(asked.file), directory.path, asked.form), columns, asked.limit)
    except BadFile as error:
        if not directory.planned:
            raise
        raise BadFile(f"{error} {execution.out} holds a run of it; when it is back: {execution.command}") from error


class _Session:
    """One sitting of a run: from what the directory holds to DONE."""

    def __init__(
        self,
        directory: Directory,
        plan: RunPlan,
        tracker: Tracker,
        lock: Lock,
        watchers: Sequence[observers.Observer],
        given: source.Input,
    ) -> None:
        self.directory, self.plan, self.tracker, self.lock = directory, plan, tracker, lock
        self.watchers, self.given = watchers, given
        self.journal = Journal(directory.path)

    def go(self, execute: Callable[[Iterator[Shard]], Iterable[Finished]]) -> Summary:
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
        table = write(self.directory.path / VERDICTS, Run(self.directory, self.plan).verdicts())
        contents = "".join(_footer(good[number]).content for number in sorted(good))
        digest = blake2b(contents.encode(), digest_size=16).hexdigest()
        facts = {"plan": self.plan.digest, "content": digest, "rows": self.plan.rows, "shards": self.plan.shards}
        self.directory.finish({**facts, "verdicts": table, "errors": self.tracker.errors})
        self.journal.note("done", errors=self.tracker.errors)


def _footer(path: Path) -> Any:
    import pyarrow.parquet as pq

    from assay.runs.shard import Footer

    return Footer.read(pq.read_schema(path).metadata)


def _errors(paths: Iterable[Path]) -> int:
    """How many cells of these shards hold an error."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    return sum(int(pc.sum(pc.not_equal(_status(pq, path), "ok")).as_py() or 0) for path in paths)


def _status(pq: Any, path: Path) -> Any:
    return pq.read_table(path, columns=["status"]).column("status")


@contextmanager
def _held(path: Path, tracker: Tracker, watchers: Sequence[observers.Observer]) -> Iterator[tuple[Directory, Lock]]:
    """The locked directory; at every beat the state is saved and shown."""

    def beat() -> None:
        if tracker.rows:
            tracker.save(path)
            for watcher in watchers:
                watcher.moved(tracker.now())

    with held(path, beat) as (directory, lock):
        try:
            yield directory, lock
        finally:
            with suppress(OSError):
                tracker.save(path)
