"""From a request to the plan of a run and the job that its workers do; what no row could get past is refused here."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from assay.errors import BadInput
from assay.explanations.by_token import require_by_token
from assay.explanations.reading import Explains
from assay.models import TextModel
from assay.progress import lines
from assay.registry.cards import Card, CheckCard, MethodCard
from assay.registry.finding import explaining, require, resolve_check, resolve_method
from assay.registry.fitting import require_readable
from assay.registry.parameters import written
from assay.registry.protocols import Check, LearnsFromAll
from assay.request import Request
from assay.runs import source
from assay.runs.directory import Directory
from assay.runs.execution import Execution
from assay.runs.plan import RunPlan, agreed
from assay.runs.work import Job
from assay.verbs import label_index, versions
from assay.verdicts.judge import default_draws

_FORMAT = 2  # of the shards, and of how random numbers are drawn: a run of another format is not resumed
Methods = Sequence[tuple[MethodCard, Explains[Any]]]
Checks = Sequence[tuple[CheckCard, Check[Any]]]


def found(request: Request) -> tuple[Methods, Checks]:
    """The methods and checks of a request, before anything is read or loaded."""
    asked = [resolve_method(one) for one in request.methods or ()]
    methods = [(card, explaining(card, made)) for card, made in asked]
    checks = [resolve_check(one) for one in request.checks or ()]
    require_readable(methods, checks)
    for card, _ in methods:
        require_by_token(request.aims.tokens, card.name, card.returns, tested=bool(checks))
    return methods, checks


def planned(
    request: Request, execution: Execution, directory: Directory, given: source.Input, methods: Methods, checks: Checks
) -> tuple[Job, TextModel, RunPlan]:
    """The job and its plan; what a directory already says about threads holds for a resume too."""
    given.table.require_unchanged()
    rows = given.count()
    job = Job(
        model=request.model,
        device=request.device or ("cuda" if execution.gpus_per_worker else None),
        threads=execution.threads or _threads_before(directory) or _cores(),
        methods=tuple((card.name, made) for card, made in methods),
        checks=tuple((card.name, made) for card, made in checks),
        draws=request.draws or default_draws(rows),
        aims=request.aims,
        plan="",
    )
    model = job.load() if execution.executor == "inline" else replace(job, device=None).load()
    asked: list[tuple[Card[Any], object]] = [*methods, *checks]
    for card, made in asked:
        require(card, model, made)
    _require_possible(request, model, given.columns.pair)
    settings = _settings(request, execution, job, model, given, rows)
    notes = {"input": given.table.name, "executor": execution.executor, "command": execution.command}
    plan = agreed(directory.path, RunPlan(settings, notes))
    return replace(job, plan=plan.digest), model, plan


def _require_possible(request: Request, model: TextModel, pair: str | None) -> None:
    if request.dtype is not None:
        raise BadInput(f"a run computes in float32; dtype={request.dtype} is for explain, check and trust.")
    if callable(request.aims.split):
        raise BadInput("a run takes a splitter by its name: a function cannot be kept in the plan.")
    for label in (request.aims.target, request.aims.against):
        if label is not None:
            label_index(model, label)
    required = model.fields[: len(model.fields) - model.optional]
    if len(required) == 2 and pair is None:
        raise BadInput(f"the model {model.name} reads pairs ({', '.join(required)}); name --pair-column too.")


def _settings(
    request: Request, execution: Execution, job: Job, model: TextModel, given: source.Input, rows: int
) -> dict[str, Any]:
    aims = {name: value for name, value in asdict(request.aims).items() if name != "seed"}
    return {
        "format": _FORMAT,
        "input": {"digest": given.table.fingerprint(), "rows": rows, **asdict(given.columns)},
        "model": {"name": model.name, "fingerprint": _fingerprint(model), "labels": list(model.labels)},
        "device": job.device or "cpu",
        "threads": job.threads,
        "methods": {name: written(made) for name, made in job.methods},
        "checks": {name: written(made) for name, made in job.checks},
        "draws": job.draws,
        "explained": aims,
        "seed": request.aims.seed,
        "shard_size": _shard_size(execution, job, rows),
        "versions": dict(versions()),
    }


def _shard_size(execution: Execution, job: Job, rows: int) -> int:
    """As many rows as asked for; all of them where a check learns from all texts together."""
    learning = [name for name, check in job.checks if isinstance(check, LearnsFromAll) and check.learns]
    if not learning or rows <= execution.shard_size:
        return execution.shard_size
    lines.warning(
        "%s tunes its threshold on texts of the whole run, so all %s rows are one shard, which a kill loses; with a "
        "threshold of your own, or metric=auprc, shards have %s rows.",
        learning[0],
        f"{rows:,}",
        f"{execution.shard_size:,}",
    )
    return rows


def _fingerprint(model: TextModel) -> str:
    """Changes whenever answers may change; what it cannot see is said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = model.fingerprint()
    for one in said:
        if issubclass(one.category, UserWarning):
            lines.warning("%s", one.message)
    return found


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system says which cores a process may use
        return os.cpu_count() or 1


def _threads_before(directory: Directory) -> int | None:
    try:
        return int(RunPlan.at(directory.path).settings["threads"])
    except (BadInput, KeyError):
        return None
