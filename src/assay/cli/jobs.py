"""A job: texts, a model, methods and checks, put together from the options and run by the verbs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assay import verbs
from assay.cli.options import Source, parts
from assay.cli.settings import made
from assay.cli.sources import read, require_fields
from assay.engine.engine import Engine, Outcome
from assay.errors import AssayError, BadInput
from assay.explanations.base import Explanation
from assay.models import load
from assay.progress import track
from assay.registry.finding import find_check, find_method
from assay.verbs import Aims
from assay.verdicts import judge as judging
from assay.verdicts.verdict import Verdict


@dataclass(frozen=True)
class Job:
    """Everything a command needs, checked before the model answers anything."""

    texts: list[Any]
    engine: Engine
    methods: Sequence[Any]
    checks: Sequence[Any]
    aims: Aims
    progress: bool | None
    names: str  # of the methods and checks

    @classmethod
    def of(
        cls,
        source: Source,
        model: str,
        methods: str,
        checks: str,
        settings: list[str] | None,
        aims: Aims,
        quiet: bool,
        dtype: str | None = None,
    ) -> Job:
        """What costs little is tried first: names and texts before the model is loaded."""
        cards = [find_method(name) for name in parts(methods) or []]
        tests = [find_check(name) for name in parts(checks) or []]
        if not cards:
            raise BadInput("--method needs a name, as listed by `assay methods`.")
        chosen = made(cards, tests, settings or [])
        texts = read(source)
        engine = Engine(load(model, dtype=dtype))
        needed = engine.model.fields[: len(engine.model.fields) - engine.model.optional]
        require_fields(needed, texts, engine.model.name)
        names = ", ".join(card.name for card in (*cards, *tests))
        return cls(texts, engine, *chosen, aims, False if quiet else None, names)


def explanations(job: Job) -> Iterator[tuple[Explanation, ...]]:
    """For each text in turn, what every method tells."""
    streams = [verbs.stream(job.engine.model, job.texts, m, aims=job.aims, engine=job.engine) for m in job.methods]
    told = zip(*streams, strict=True)
    for i, outcomes in enumerate(track(told, len(job.texts), "explaining", job.progress), start=1):
        yield tuple(_told(outcome, i, len(job.texts)) for outcome in outcomes)


def verdicts(job: Job, draws: int | None) -> list[Verdict]:
    if not job.checks:
        raise BadInput("--check needs a name, as listed by `assay checks`.")
    aims = {name: getattr(job.aims, name) for name in ("target", "against", "scalar", "focus", "split")}
    return judging.check(
        job.engine.model,
        job.texts,
        job.methods,
        job.checks,
        draws=draws,
        seed=job.aims.seed,
        engine=job.engine,
        progress=job.progress,
        **aims,
    )


def _told(outcome: Outcome[Explanation], i: int, many: int) -> Explanation:
    """The explanation; an error says which of the texts it is about."""
    if many > 1 and isinstance(outcome.error, AssayError):
        raise type(outcome.error)(f"text {i}: {outcome.error}") from outcome.error
    return outcome.get()
