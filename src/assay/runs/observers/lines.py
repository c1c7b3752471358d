"""A line on stderr every 30 seconds, for logs."""

from __future__ import annotations

from contextlib import suppress

from assay.runs.observers import EVERY, Pace
from assay.runs.plan import RunPlan
from assay.runs.progress import Progress
from assay.views.say import counted
from assay.views.visible import to_stderr


class Lines:
    """One line at the beginning, one now and then."""

    def __init__(self, every: float = EVERY) -> None:
        self.pace = Pace(every)

    def began(self, plan: RunPlan) -> None:
        self._say(f"{counted(plan.rows, 'row')} in {counted(plan.shards, 'shard')} by {', '.join(plan.methods)}")

    def moved(self, progress: Progress) -> None:
        if self.pace.due():
            self._say(progress.line())

    def ended(self, progress: Progress) -> None:
        """The command says it."""

    def _say(self, line: str) -> None:
        with suppress(OSError):  # a log that cannot be written is no reason to end a run
            to_stderr(f"assay: {line}")
