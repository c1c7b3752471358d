"""Weights & Biases: settings as config, progress as history."""

from __future__ import annotations

import wandb

from assay.runs.observers import Service, facts, numbers
from assay.runs.plan import RunPlan
from assay.runs.progress import Progress


class WandbLogger(Service):
    """Logs to the run that is open, or to a new one in the project `assay`."""

    def __init__(self) -> None:
        super().__init__()
        self.own = wandb.run is None
        self.run = wandb.run or wandb.init(project="assay")

    def began(self, plan: RunPlan) -> None:
        self.run.config.update(facts(plan), allow_val_change=True)

    def log(self, progress: Progress) -> None:
        self.run.log(numbers(progress))

    def close(self) -> None:
        if self.own:
            self.run.finish()
