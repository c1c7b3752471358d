"""Observers: who is told how a run goes. They are called from a thread of their own while the run works.

terminal    a bar            mlflow    metrics in the current MLflow experiment
lines       a line every 30 s    wandb     metrics in a Weights & Biases run
"""

from __future__ import annotations

from importlib import import_module
from time import monotonic
from typing import Protocol

from assay.errors import BadInput, UnknownName
from assay.runs.plan import RunPlan
from assay.runs.progress import Progress

_LOGGERS = {
    "mlflow": ("assay.runs.observers.mlflow", "MlflowLogger"),
    "wandb": ("assay.runs.observers.wandb", "WandbLogger"),
}
EVERY = 30.0


class Observer(Protocol):
    """Told when a run begins, every few seconds, and when all is done."""

    def began(self, plan: RunPlan) -> None: ...
    def moved(self, progress: Progress) -> None: ...
    def ended(self, progress: Progress) -> None: ...


class Pace:
    """Says yes once in so many seconds."""

    def __init__(self, every: float = EVERY) -> None:
        self.every, self.last = every, monotonic()

    def due(self) -> bool:
        if monotonic() - self.last < self.every:
            return False
        self.last = monotonic()
        return True


class Service:
    """A service that is told every half minute, and once more at the end."""

    def __init__(self) -> None:
        self.pace = Pace()

    def moved(self, progress: Progress) -> None:
        if self.pace.due():
            self.log(progress)

    def ended(self, progress: Progress) -> None:
        self.log(progress)
        self.close()

    def log(self, progress: Progress) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


def logger(name: str) -> Observer:
    """The observer for a service by its name; its library must be installed."""
    if name not in _LOGGERS:
        raise UnknownName.of("logger", name, _LOGGERS)
    module, kind = _LOGGERS[name]
    try:
        return getattr(import_module(module), kind)()  # type: ignore[no-any-return]
    except ImportError as error:
        raise BadInput(f"--log {name} needs its library: pip install {name} ({error}).") from error


def facts(plan: RunPlan) -> dict[str, str]:
    """The settings that a service shows beside the numbers."""
    lists = {"methods": ",".join(plan.methods), "checks": ",".join(plan.checks)}
    return {"model": plan.settings["model"]["name"], **lists, "dataset_rows": str(plan.rows), "plan": plan.digest}


def numbers(progress: Progress) -> dict[str, float]:
    rates = {"rows_per_second": progress.rate or 0.0, "cache_hit_share": progress.hit_share}
    return {"rows": float(progress.kept), "errors": float(progress.errors), **rates}
