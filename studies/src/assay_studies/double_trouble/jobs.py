"""The study as work that several processes share: models, then explanations, then parts, and ROAR piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from assay.checks.trained_models import RANDOM
from assay.registry.protocols import Method
from assay_studies.double_trouble import lime_retraining, retraining
from assay_studies.double_trouble.methods import FURTHER, METHODS, wanted
from assay_studies.double_trouble.multirc_task import NAME as MULTIRC
from assay_studies.double_trouble.roar_runs import RANDOM_WORDS, runs_of
from assay_studies.double_trouble.sizes import Sizes
from assay_studies.double_trouble.tasks import Task, is_sst2
from assay_studies.request import Request
from assay_studies.study import Run, run_of
from assay_studies.workers import Job

_STUDY, _ROAR = "double_trouble", "ROAR: "
_OF_ROAR = ("table_2", "table_a6")
_LONG = ("LIME_BERT_SST2", "LIME_BERT", "IM", "LIME")  # first, so that no process is left with them


def jobs(run: Run[Task, Sizes]) -> list[Job]:
    """What is trained first, then what takes long."""
    return [*_models(run), *_maps(run), *_roar(run)]


def part_waits(part: str, job: str) -> bool:
    """ROAR is for its own tables; they need nothing else."""
    return job.startswith(_ROAR) == (part in _OF_ROAR)


def _models(run: Run[Task, Sizes]) -> Iterator[Job]:
    names = {task.name for task in run.tasks}
    if MULTIRC in names and MULTIRC not in run.request.models:
        yield _job(run, "the reader of MultiRC", _open, MULTIRC)
    if run.sizes.mlm_train and FURTHER not in run.request.models:
        yield _job(run, FURTHER, _train_further)


def _maps(run: Run[Task, Sizes]) -> Iterator[Job]:
    pairs = [(task, method) for task in run.tasks for method in _methods(task)]
    for task, method in sorted(pairs, key=lambda one: _LONG.index(one[1]) if one[1] in _LONG else len(_LONG)):
        trained = task.further(METHODS[method](run.sizes)[1]) and FURTHER not in run.request.models
        after = [FURTHER] if trained else []
        after += ["the reader of MultiRC"] if task.name == MULTIRC and task.identity else []
        yield _job(run, f"{task.title}, {method}", _explain, task.name, method, after=after)


def _methods(task: Task) -> list[str]:
    further = ["LIME_BERT_SST2", "IM_SST2"] if task.name == "sst2" and task.sizes.mlm_train else []
    return [*wanted(task.name), *further]


def _roar(run: Run[Task, Sizes]) -> Iterator[Job]:
    """Table 2 first, whole, and Table A6 after it: a study that is stopped has one of them."""
    if not (run.sizes.roar_train and run.tasks[0].train):
        return
    task = run.tasks[0]
    chunks, seeds = runs_of(task).chunks, range(run.sizes.roar_seeds)
    further = [FURTHER] if run.sizes.mlm_train and FURTHER not in run.request.models else []
    yield from (_job(run, f"{_ROAR}whole texts, seed {seed}", _learn_whole, seed) for seed in seeds)
    listed, known = set[str](), _known(task)
    for metric, name in _retrained(task):
        if all(known(metric, name, seed) for seed in seeds):
            continue
        explained = [] if name == "Random" else [f"{_ROAR}{name}, texts {i}" for i in chunks]
        for i in chunks if explained and name not in listed else ():
            yield _job(run, explained[i], _explain_chunk, name, i, after=further if "SST2" in name else ())
        listed.add(name)
        after = [*explained, *(further if "SST2" in metric else ())]
        yield from (
            _job(run, f"{_ROAR}{metric}, {name}, seed {s}", _learn, metric, name, s, after=after) for s in seeds
        )


def _known(task: Task) -> Callable[[str, str, int], bool]:
    """Which accuracies were found before the study was stopped: nothing needs to be explained for them."""
    runs, chosen = runs_of(task), _chosen(task)
    return lambda metric, name, seed: runs.is_known(metric, retraining.ERASERS[metric], name, chosen[name][1], seed)


def _retrained(task: Task) -> Iterator[tuple[str, str]]:
    """Metrics and methods, each once: those of Table 2, then those that only Table A6 has."""
    yield from ((metric, name) for metric in retraining.metrics_of(task) for name in (*retraining.methods(), "Random"))
    if task.sizes.roar_lime:
        for metric in lime_retraining.metrics_of(task):
            more = () if metric in retraining.METRICS else ("Random",)
            yield from ((metric, name) for name in (*lime_retraining.limes_of(task), *more))


def _chosen(task: Task) -> dict[str, tuple[str, Method]]:
    limes = lime_retraining.limes_of(task) if task.sizes.roar_lime else {}
    named = {name: (lime_retraining.named(method), method) for name, method in limes.items()}
    return {**retraining.methods(), **named, "Random": (RANDOM, RANDOM_WORDS)}


def _job(run: Run[Task, Sizes], name: str, do: Callable[..., object], *details: Any, after: Sequence[str] = ()) -> Job:
    return Job(name, partial(_here, run.request.silent, do, *details), tuple(after))


def _here(request: Request, do: Callable[..., object], *details: Any) -> None:
    """In another process."""
    do(run_of(_STUDY, request), *details)


def _task(run: Run[Task, Sizes], name: str) -> Task:
    return next(task for task in run.tasks if task.name == name)


def _open(run: Run[Task, Sizes], name: str) -> None:
    _ = _task(run, name).accuracy


def _train_further(run: Run[Task, Sizes]) -> None:
    run.tasks[0].engine.resolve(FURTHER)


def _explain(run: Run[Task, Sizes], name: str, method: str) -> None:
    _task(run, name).maps(method)


def _explain_chunk(run: Run[Task, Sizes], name: str, chunk: int) -> None:
    task = next(filter(is_sst2, run.tasks))
    runs_of(task).explained(name, _chosen(task)[name][1], chunk)


def _learn_whole(run: Run[Task, Sizes], seed: int) -> None:
    runs_of(run.tasks[0]).whole(seed)


def _learn(run: Run[Task, Sizes], metric: str, name: str, seed: int) -> None:
    task = run.tasks[0]
    runs_of(task).accuracies(metric, retraining.ERASERS[metric], name, _chosen(task)[name][1], seed)
