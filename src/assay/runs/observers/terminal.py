"""A bar in the terminal: rows, speed, time left, cache hits."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from assay.runs.plan import RunPlan
from assay.runs.progress import Progress


class Terminal:
    """Drawn on stderr, gone when the run is."""

    def __init__(self) -> None:
        columns = (BarColumn(), TextColumn("{task.description}"))
        self.bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task("reading", total=None)

    def began(self, plan: RunPlan) -> None:
        self.bar.start()
        self.bar.update(self.task, total=plan.rows)

    def moved(self, progress: Progress) -> None:
        self.bar.update(self.task, completed=progress.kept + progress.under_way, description=progress.line())

    def ended(self, progress: Progress) -> None:
        self.close()

    def close(self) -> None:
        self.bar.stop()
