"""MLflow: settings as parameters, progress as metrics.

It is called from a thread, so it logs by run id: MLflow knows its active run only in the thread that started it.
"""

from __future__ import annotations

import mlflow

from assay.runs.observers import Service, facts, numbers
from assay.runs.plan import RunPlan
from assay.runs.progress import Progress


class MlflowLogger(Service):
    """Logs to the run that is active, or to a new one in the current experiment."""

    def __init__(self) -> None:
        super().__init__()
        self.own = mlflow.active_run() is None
        self.client = mlflow.MlflowClient()
        self.run = (mlflow.active_run() or mlflow.start_run()).info.run_id

    def began(self, plan: RunPlan) -> None:
        for name, value in facts(plan).items():
            self.client.log_param(self.run, name, value)

    def log(self, progress: Progress) -> None:
        for name, value in numbers(progress).items():
            self.client.log_metric(self.run, name, value, step=progress.kept)

    def close(self) -> None:
        if self.own:
            mlflow.end_run()
