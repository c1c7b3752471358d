"""Which shards a reader may trust: those whose bytes are the ones that were written. Each file is checked once.

What was checked is remembered while the process lives, by what the system says of the file: its size, its times, its
place. A file that was written a moment ago is checked again the next time, as two writes can bear the same time.
"""

from __future__ import annotations

import os
from pathlib import Path
from time import time

from assay.errors import BadFile
from assay.runs.plan import RunPlan
from assay.runs.shard import BadShard, number_of, require_whole

_SETTLED = 2.0  # seconds; no file system keeps times more coarsely
_checked: dict[tuple[str, str], tuple[int, ...]] = {}


def require_checked(path: Path, plan: RunPlan) -> None:
    """Raise BadShard, or OSError, where the file is not a whole shard of the plan."""
    key, stat = (os.path.abspath(path), plan.digest), path.stat()
    seen = (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    if _checked.get(key) == seen:
        return
    require_whole(path, plan.digest, plan.rows_of(number_of(path)))
    if time() - max(stat.st_mtime, stat.st_ctime) > _SETTLED:
        _checked[key] = seen


def require_trusted(path: Path, plan: RunPlan) -> None:
    """The same, in a sentence for who reads a run."""
    try:
        require_checked(path, plan)
    except (BadShard, OSError) as error:
        why = str(error.strerror or error) if isinstance(error, OSError) else str(error)
        raise BadFile(f"{path} is damaged ({why}); {_again(plan)}.") from error


def require_all(directory: Path, numbers: set[int], plan: RunPlan) -> None:
    """Of a run that is done no shard may be missing."""
    if lacking := sorted(set(range(plan.shards)) - numbers):
        rows = plan.rows_of(lacking[0])
        which = f"{len(lacking)} of {plan.shards} shards are gone, the first with rows {rows.start} to {rows.stop - 1}"
        raise BadFile(f"{directory} was done, but {which}; {_again(plan)}.")


def _again(plan: RunPlan) -> str:
    return f"run the same command again, which sets aside what is damaged and makes it again: {plan.notes['command']}"
