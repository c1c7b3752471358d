"""A study as data, and the one frame that runs it: tasks, parts that are taken from its directory or made, the report.

    STUDY = Study(name="my_study", title="What is asked", paper="Who (when), where", sizes=Sizes, version=1,
                  tasks=tasks, parts=(lengths.PART, confidence.PART))
    STUDY.run(request)

A part that is finished stays in the directory and is not computed again as long as its settings agree. While a study
runs, no other one works in its directory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from assay.errors import BadFile
from assay.storage.lock import Lock
from assay_studies import report
from assay_studies.claims import Claim
from assay_studies.findings import Findings, Part
from assay_studies.origin import told
from assay_studies.request import Request
from assay_studies.rules import Learned
from assay_studies.sizing import Sizing
from assay_studies.specification import PartSpec
from assay_studies.store import Store
from assay_studies.workers import Job, work

Fact: TypeAlias = tuple[str, str]
_BEGUN: dict[tuple[str, Path], Run[Any, Any]] = {}  # of a worker


class Task(Protocol):
    """What a study needs to know of a dataset, or of a model on a dataset."""

    @property
    def name(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]:
        """What its results depend on."""
        ...


T = TypeVar("T", bound=Task)
S = TypeVar("S", bound=Sizing)


@dataclass(frozen=True)
class Run(Generic[T, S]):
    """A study under way."""

    request: Request
    sizes: S
    store: Store
    tasks: Sequence[T]


@dataclass(frozen=True, kw_only=True)
class Study(Generic[T, S]):
    """A paper: its datasets, its parts, and what the report says besides.

    `version` is that of the parts: another one computes them all anew. `facts` stand before what every report has
    (sizes, time), `more_facts` after it; `notes` are made when all parts are. `settings` of a part are what it depends
    on, if that is not the sizes and all tasks. Where there are `jobs`, several processes can share the work; where
    `part_waits` says whether a part waits for a job, by their names, the parts are jobs too. `learned` says how good
    the model is that a claim is about.
    """

    name: str
    title: str
    paper: str
    sizes: type[S]
    version: int
    tasks: Callable[[Request, S, Store], Sequence[T]]
    parts: Sequence[PartSpec[T]] | Callable[[Run[T, S]], Iterable[PartSpec[T]]]
    facts: Callable[[Run[T, S]], Iterable[Fact]] = lambda run: ()
    more_facts: Callable[[Run[T, S]], Iterable[Fact]] = lambda run: ()
    notes: Callable[[Run[T, S]], Iterable[str]] = lambda run: ()
    settings: Callable[[Run[T, S], PartSpec[T]], Mapping[str, Any]] | None = None
    jobs: Callable[[Run[T, S]], Sequence[Job]] | None = None
    part_waits: Callable[[str, str], bool] | None = None
    learned: Callable[[Run[T, S], Claim], Learned | None] = lambda run, claim: None
    finish: Callable[[Run[T, S]], None] = lambda run: None

    def run(self, request: Request) -> Findings:
        """All parts, each taken from the directory if it is there; then the report."""
        with exclusive(request.out):
            Store(request.out).require_ours()
            return self._run(request)

    def _run(self, request: Request) -> Findings:
        began = perf_counter()
        request.require_one_worker(self.name, shared=self.jobs is not None)
        run = self.begun(request)
        specs = self._specs(run)
        missing = [spec.name for spec in specs if run.store.part(spec.name, self._settings(run, spec)) is None]
        if self.jobs is not None and request.workers > 1 and missing:
            work(self._all_jobs(run, missing), request.workers, request.say, run.store.keep_seconds)
        parts = [self._judged(run, self._made(run, spec)) for spec in specs]
        took = f"{perf_counter() - began:,.0f} s for this call, {request.workers} processes"
        facts = (
            *self.facts(run),
            *_sizes_and_time(run, parts),
            ("This call", took),
            *self.more_facts(run),
            *told(parts),
            *([("Command", request.command)] if request.command else ()),
        )
        findings = Findings(self.name, self.title, self.paper, facts, tuple(parts), tuple(self.notes(run)))
        report.write(findings, run.store)
        self.finish(run)
        return findings

    def begun(self, request: Request) -> Run[T, S]:
        """The study before anything is computed."""
        sizes, store = self.sizes.of(request.quick, request.sizes), Store(request.out, request.device)
        return Run(request, sizes, store, self.tasks(request, sizes, store))

    def _all_jobs(self, run: Run[T, S], missing: Sequence[str]) -> list[Job]:
        """What the parts need, then the parts that are not there yet, each where its needs allow."""
        assert self.jobs is not None
        listed = list(self.jobs(run))
        waits = self.part_waits
        if waits is None:
            return listed
        names = [job.name for job in listed]
        parts = [
            Job(
                name,
                partial(_make_part, self.name, run.request.silent, name),
                tuple(n for n in names if waits(name, n)),
            )
            for name in missing
        ]
        return [*parts, *listed]

    def make_part(self, run: Run[T, S], name: str) -> None:
        """One part, by its name; it is kept in the directory."""
        for spec in self._specs(run):
            if spec.name == name:
                self._made(run, spec)

    def _made(self, run: Run[T, S], spec: PartSpec[T]) -> Part:
        """The part, with the time that it took when it was computed."""
        settings = self._settings(run, spec)
        if (known := run.store.part(spec.name, settings)) is not None:
            run.request.say(f"{spec.name}: taken from {run.store.out}")
            return known
        began = perf_counter()
        part = replace(spec.make(run.tasks), seconds=round(perf_counter() - began, 1))
        return run.store.keep_part(part, settings)

    def _judged(self, run: Run[T, S], part: Part) -> Part:
        """With how good the models are that its claims are about."""
        return replace(part, claims=tuple(one.of_model(self.learned(run, one)) for one in part.claims))

    def _specs(self, run: Run[T, S]) -> list[PartSpec[T]]:
        return list(self.parts(run) if callable(self.parts) else self.parts)

    def _settings(self, run: Run[T, S], spec: PartSpec[T]) -> Mapping[str, Any]:
        if spec.settings is not None:
            return {"version": self.version, **spec.settings}
        if self.settings is not None:
            return {"version": self.version, **self.settings(run, spec)}
        tasks = {task.name: task.settings for task in run.tasks}
        return {"version": self.version, "sizes": asdict(run.sizes), "tasks": tasks}


def run_of(name: str, request: Request) -> Run[Any, Any]:
    """The study as a worker finds it: begun once in each process, by the name of the study and its directory."""
    place = name, request.out
    if place not in _BEGUN:
        _BEGUN[place] = study_named(name).begun(request)
    return _BEGUN[place]


def study_named(name: str) -> Study[Any, Any]:
    found: Study[Any, Any] = import_module(f"assay_studies.{name}").STUDY
    return found


def _make_part(name: str, request: Request, part: str) -> None:
    study_named(name).make_part(run_of(name, request), part)


def _sizes_and_time(run: Run[Any, Any], parts: Iterable[Part]) -> Iterator[Fact]:
    """What processes shared besides the parts, as explanations and models, is counted by itself."""
    yield "Sizes", ", ".join(f"{name} {count:,}" for name, count in asdict(run.sizes).items())
    seconds = {part.name: part.seconds for part in parts}
    shared = sum(took for job, took in run.store.seconds.items() if job not in seconds)
    more = f" and {shared:,.0f} s for what they are made of" if shared else ""
    yield "Time", f"{sum(seconds.values()):,.0f} s for all parts{more}, when they were computed"


@contextmanager
def exclusive(out: Path) -> Iterator[None]:
    """Within it no other study has the directory, which is there; one that is still empty afterwards is removed.

    Two studies in one directory would train into each other's models. See `assay.storage.lock`.
    """
    with ExitStack() as stack:
        try:
            stack.callback(_remove_empty, out, new=not out.exists())
            out.mkdir(parents=True, exist_ok=True)
            stack.enter_context(Lock(out))
        except OSError as error:
            raise BadFile(f"{out} cannot be written: {error.strerror or error}.") from error
        yield


def _remove_empty(out: Path, new: bool) -> None:
    if new:
        with suppress(OSError):  # it is not empty
            out.rmdir()
