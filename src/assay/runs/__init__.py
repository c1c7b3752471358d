"""Whole datasets: runs that survive, on one machine or on many.

    run(request, execution)     explain and check every row of a dataset into a directory; again, and it goes on
    open_run("DIR")             what a directory holds: pandas, arrow, datasets, explanations, verdicts

A row is its own conversation, a shard a slice of rows; `docs/runs.md` tells the rest.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.runs.store import Run


def open_run(directory: str | Path) -> Run:
    """What a run left in its directory, whether it is done or not."""
    from assay.runs.store import Run  # needs pyarrow, which is slow to import

    return Run.at(Path(directory))
