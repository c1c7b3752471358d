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
from assay_studies.attention_is_not_explanation.tasks import read_once
from assay_studies.attention_is_not_not_explanation.sizes import Sizes
from assay_studies.attention_is_not_not_explanation.tasks import LAYOUT, Task, seeds_of
from assay_studies.request import Request
from assay_studies.store import Store
from assay_studies.workers import Job

_RIVAL = GuidedMlp().adversary or 0.0  # the lambda of the adversary that guides
_FIRST = seeds_of(1)[0]
_TESTS = ("uniform", "seeds", "guided", "sweeps", "sought")


def jobs(listed: Sequence[Task]) -> list[Job]:
    """Datasets with the most to read first; of each the base first, for which most others wait."""
    largest = sorted(listed, key=lambda task: -sum(len(str(example.text)) for example in task.split.train))
    return [job for task in largest for job in _jobs(task)]


def _jobs(task: Task) -> Iterator[Job]:
    bench = Bench(task.request.silent, task.sizes, task.dataset)
    models = [*_adversaries(task, bench), *_mlps(task, bench), *_seeds(task, bench)]
    yield from models
    yield Job(f"{task.title}: chosen on test", partial(_test, bench, "chosen_on_test"), (_base(task),))
    for name in _TESTS:
        yield Job(f"{task.title}: {name}", partial(_test, bench, name), tuple(job.name for job in models))


def _adversaries(task: Task, bench: Bench) -> Iterator[Job]:
    yield Job(_base(task), partial(_learn, bench, seeds_of(1)[0]))
    for value in dict.fromkeys((_RIVAL, *task.lambdas)):
        yield Job(f"{task.title}, adversary {value:g}", partial(_oppose, bench, value), (_base(task),))
    for seed in seeds_of(task.sizes.adversary_seeds)[1:]:
        base = f"{task.title}, seed {seed} as a base"
        yield Job(base, partial(_learn, bench, seed))
        for value in task.lambdas:
            yield Job(f"{task.title}, adversary {value:g}, seed {seed}", partial(_oppose, bench, value, seed), (base,))


def _mlps(task: Task, bench: Bench) -> Iterator[Job]:
    rival = f"{task.title}, adversary {_RIVAL:g}"
    for seed in seeds_of(task.sizes.guide_seeds):
        name = f"{task.title}, MLP {seed}"
        yield Job(f"{name} under the adversary", partial(_guide, bench, _RIVAL, seed), (rival,))
        yield Job(f"{name} under the base", partial(_guide, bench, None, seed), (_base(task),))
        yield Job(name, partial(_learn, bench, seed, encoder="average"))
        yield Job(f"{name} uniform", partial(_learn, bench, seed, encoder="average", attention="uniform"))


def _seeds(task: Task, bench: Bench) -> Iterator[Job]:
    flat = seeds_of(task.sizes.uniform_seeds)
    for seed in dict.fromkeys((*seeds_of(1 + max(1, task.sizes.seeds))[1:], *flat[1:])):
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
        return Task(self.dataset, split, self.request, self.sizes, Store(self.request.out))

    def base(self, seed: int = _FIRST) -> str:
        return self.task.models.model(seed)

    def rival(self, penalty: float, seed: int = _FIRST) -> str:
        long = self.task.long
        check = TrainedAdversary(epochs=long["epochs"], patience=long["patience"], seed=seed)
        return self.task.models.adversary(self.base(seed), penalty, check)


def _learn(bench: Bench, seed: int, **changes: Any) -> None:
    bench.task.models.model(seed, **changes)


def _oppose(bench: Bench, penalty: float, seed: int = _FIRST) -> None:
    bench.rival(penalty, seed)


def _guide(bench: Bench, penalty: float | None, seed: int) -> None:
    bench.task.models.guided(bench.base() if penalty is None else bench.rival(penalty), seed)


def _test(bench: Bench, name: str) -> None:
    getattr(bench.task, name)
