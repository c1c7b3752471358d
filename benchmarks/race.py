"""How contestants are timed: one process, taking turns, and the ratio to ours with its spread over the turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter
from typing import Any

import torch

import assay
from assay.engine.engine import Engine
from assay.explanations.about import Cost
from bare import Floor, Recorder

BUDGETS = (256, 512, 768, 1024, 2048)
_ON_A_GPU = (16_384, 65_536)
Job = Callable[[], object]


class Ours:
    """Our contestant; after a turn it knows what it told and what it cost."""

    def __init__(self, model: Any, texts: list[str], method: str, **settings: Any) -> None:
        self.model, self.texts, self.method, self.settings = model, texts, method, settings
        self.told: list[Any] = []
        self.cost = Cost()

    def __call__(self) -> None:
        engine = Engine(self.model)
        self.told = assay.explain(self.model, self.texts, self.method, engine=engine, progress=False, **self.settings)
        self.cost = engine.totals

    def floor(self) -> tuple[str, Job]:
        """The rows it needs with nothing around them, at the best of several budgets (tried on a part of them)."""
        with Recorder(self.model) as needed:
            self()
        some, every = Floor(self.model.model, needed, every=4), Floor(self.model.model, needed)
        budgets = BUDGETS if some.device.type == "cpu" else (*BUDGETS, *_ON_A_GPU)
        budget = best({budget: lambda budget=budget: some.run(budget) for budget in budgets})
        return f"floor ({budget} tokens a batch)", lambda: every.run(budget)


def timed(job: Job) -> float:
    """Until a GPU has done what it was given, too."""
    began = perf_counter()
    job()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return perf_counter() - began


def best(jobs: Mapping[Any, Job]) -> Any:
    """The fastest setting, by the better of two tries."""
    times = {name: min(timed(job), timed(job)) for name, job in jobs.items()}
    return min(times, key=lambda name: times[name])


def compare(title: str, ours: Ours, peers: Mapping[str, Job], repeats: int, notes: Callable[[], str] = str) -> None:
    """Let ours, the peers and the floor take turns; print milliseconds a text and the ratios."""
    name, floor = ours.floor()
    jobs: dict[str, Job] = {"ours": ours, **peers, name: floor}
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            times[name].append(timed(job))
    print(f"\n{title}")
    for name, seconds in times.items():
        ratios = sorted(a / b for a, b in zip(seconds, times["ours"], strict=True))
        spread = f"{median(ratios):5.2f}x ours ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        print(f"  {name:<40} {median(seconds) / len(ours.texts) * 1000:9.1f} ms a text   {spread}")
    cost = ours.cost
    rows = f"rows asked {cost.sequences}, run {cost.forwards} ({cost.backwards} backward)"
    print(f"   {rows}, tokens with padding {cost.tokens}{notes()}", flush=True)
