"""The models of the study as work that several processes share, then the tests, which find them trained.

A model has its name from all that decides it: one that a test would train otherwise than here, it trains itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from assay.checks.guided_mlp import GuidedMlp
from assay.checks.trained_adversary import TrainedAdversary
from assay.training.place import device
from assay_studies.attention_is_not_explanation.tasks import read_once
from assay_studies.attention_is_not_not_explanation.selection import wanted
from assay_studies.attention_is_not_not_explanation.sizes import Sizes
from assay_studies.attention_is_not_not_explanation.tasks import LAYOUT, Task, seeds_of
from assay_studies.request import Request
from assay_studies.store import Store
from assay_studies.workers import Job

_RIVAL = GuidedMlp().adversary or 0.0  # the lambda of the adversary that guides
_FIRST = seeds_of(1)[0]


def jobs(listed: Sequence[Task]) -> list[Job]:
    """The adversaries first, which take longest, of the largest dataset before others.

    Then the rest, of the smallest dataset first: a run that is stopped has finished what it could.
    """
    benches = {task: Bench(task.request.silent, task.sizes, task.dataset) for task in listed}
    largest = sorted(benches, key=lambda task: -sum(len(str(example.text)) for example in task.split.train))
    opposed = {task: list(_adversaries(task, benches[task])) if _opposes(task.sizes) else [] for task in largest}
    rest = (job for task in reversed(largest) for job in _rest(task, benches[task], opposed[task]))
    return [*(job for some in opposed.values() for job in some), *rest]


def _rest(task: Task, bench: Bench, opposed: Sequence[Job]) -> Iterator[Job]:
    sizes = task.sizes
    models = [*(_mlps(task, bench) if sizes.test_guides else ()), *_seeds(task, bench)]
    yield from models
    if sizes.test_adversaries and sizes.test_seeds and wanted(task):
        yield Job(f"{task.title}: chosen on test", partial(_test, bench, "chosen_on_test"), (_base(task),))
    for name in _tests(sizes):
        yield Job(f"{task.title}: {name}", partial(_test, bench, name), tuple(job.name for job in (*opposed, *models)))


def _opposes(sizes: Sizes) -> int:
    """Whether adversaries are trained, those of a test or the one that guides."""
    return sizes.test_adversaries or sizes.test_guides


def _tests(sizes: Sizes) -> Iterator[str]:
    """What is asked of a dataset; other seeds are compared with uniform attention."""
    if sizes.test_uniform or sizes.test_seeds:
        yield "uniform"
    if sizes.test_seeds:
        yield "seeds"
    if sizes.test_guides:
        yield "guided"
    if sizes.test_adversaries:
        yield "sweeps"
        if sizes.sought:
            yield "sought"


def _adversaries(task: Task, bench: Bench) -> Iterator[Job]:
    for seed in seeds_of(task.sizes.adversary_seeds):
        base = _base(task) if seed == _FIRST else f"{task.title}, seed {seed} as a base"
        yield Job(base, partial(_learn, bench, seed))
        groups = {_adversaries_name(task, some, seed): some for some in _groups(task, seed)}
        for name, some in groups.items():
            yield Job(name, partial(_oppose, bench, some, seed), (base,))
        yield Job(f"{task.title}: sweep {seed}", partial(_sweep, bench, seed), tuple(groups))


def _values(task: Task, seed: int) -> tuple[float, ...]:
    """The lambdas of a seed; the first one's adversaries are guides too."""
    return tuple(dict.fromkeys((*((_RIVAL,) if seed == _FIRST else ()), *task.lambdas)))


def _on_a_card(request: Request) -> bool:
    return device(request.device).startswith("cuda")


def _groups(task: Task, seed: int) -> list[tuple[float, ...]]:
    """The lambdas that train together: on a card all of a seed side by side, which would be slower on a CPU."""
    values = _values(task, seed)
    return [values] if _on_a_card(task.request) else [(value,) for value in values]


def _adversaries_name(task: Task, values: Sequence[float], seed: int) -> str:
    own = "" if seed == _FIRST else f", seed {seed}"
    return f"{task.title}, adversary {', '.join(f'{value:g}' for value in values)}{own}"


def _mlps(task: Task, bench: Bench) -> Iterator[Job]:
    rival = _adversaries_name(task, _groups(task, _FIRST)[0], _FIRST)  # with which it trains
    for seed in seeds_of(task.sizes.guide_seeds):
        name = f"{task.title}, MLP {seed}"
        yield Job(f"{name} under the adversary", partial(_guide, bench, _RIVAL, seed), (rival,))
        yield Job(f"{name} under the base", partial(_guide, bench, None, seed), (_base(task),))
        yield Job(name, partial(_learn, bench, seed, encoder="average"))
        yield Job(f"{name} uniform", partial(_learn, bench, seed, encoder="average", attention="uniform"))


def _seeds(task: Task, bench: Bench) -> Iterator[Job]:
    sizes = task.sizes
    flat = seeds_of(sizes.uniform_seeds) if sizes.test_uniform or sizes.test_seeds else ()
    other = seeds_of(1 + max(1, sizes.seeds))[1:] if sizes.test_seeds else ()
    for seed in dict.fromkeys((*other, *flat)):  # the base's is there already if it has adversaries
        yield Job(f"{task.title}, seed {seed}", partial(_learn, bench, seed))
    for seed in flat:
        yield Job(f"{task.title}, seed {seed} uniform", partial(_learn, bench, seed, attention="uniform"))


def _base(task: Task) -> str:
    return f"{task.title}, base"


@dataclass(frozen=True, eq=False)
class Bench:
    """A dataset as another process finds it."""

    request: Request
    sizes: Sizes
    dataset: str

    @cached_property
    def task(self) -> Task:
        split = read_once(self.dataset, self.request.directory(LAYOUT))
        return Task(self.dataset, split, self.request, self.sizes, Store(self.request.out, self.request.device))

    def base(self, seed: int = _FIRST) -> str:
        return self.task.models.model(seed)

    def rival(self, penalty: float, seed: int = _FIRST) -> str:
        return self.task.models.adversary(self.base(seed), penalty, self._check(seed))

    def rivals(self, penalties: Sequence[float], seed: int) -> None:
        self.task.models.adversaries(self.base(seed), penalties, self._check(seed))

    def _check(self, seed: int) -> TrainedAdversary:
        return TrainedAdversary(**self.task.opposed, seed=seed)


def _learn(bench: Bench, seed: int, **changes: Any) -> None:
    bench.task.models.model(seed, **changes)


def _oppose(bench: Bench, penalties: Sequence[float], seed: int) -> None:
    if len(penalties) > 1:
        bench.rivals(penalties, seed)
    else:
        bench.rival(penalties[0], seed)


def _sweep(bench: Bench, seed: int) -> None:
    bench.task.sweep(seed)


def _guide(bench: Bench, penalty: float | None, seed: int) -> None:
    bench.task.models.guided(bench.base() if penalty is None else bench.rival(penalty), seed)


def _test(bench: Bench, name: str) -> None:
    getattr(bench.task, name)
