"""Jobs that are killed by SIGKILL: in a fork, right before a chosen change of the files below a directory, or in time.

Where a file is opened for writing, renamed, removed or made is where a kill leaves another state behind; between two
such instants the files are the same. So whoever tries all of them has tried every kill.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

_CHANGES = frozenset({"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate"})
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_PATIENCE = 120  # seconds, after which a fork that hangs is ended


def killed_before(number: int, place: Path, job: Callable[[], Any], named: str | None = None) -> bool:
    """Whether a fork that does the job was killed, right before this change; if there are fewer, it ended by itself.

    With a name only those changes count that give a file or a directory this name.
    """
    seen = 0

    def watch(event: str, args: tuple[Any, ...]) -> None:
        nonlocal seen
        paths = [os.fsdecode(path) for path in args[:2] if isinstance(path, str | bytes | os.PathLike)]
        if not any(str(place) in path for path in paths) or not _changes(event, args):
            return
        if named is None or (event == "os.rename" and Path(paths[1]).name == named):
            seen += 1
            if seen > number:
                os.kill(os.getpid(), signal.SIGKILL)

    def watched() -> None:
        sys.addaudithook(watch)
        job()

    return _forked(watched) == -signal.SIGKILL


def killed_after(seconds: float, job: Callable[[], Any]) -> bool:
    """Whether a fork that does the job was killed after so long; else it was done before."""
    return _forked(job, seconds) == -signal.SIGKILL


def _changes(event: str, args: tuple[Any, ...]) -> bool:
    if event == "open":
        _, mode, flags = args
        return bool(set(mode or "") & set("wax+")) or bool((flags or 0) & _WRITING)
    return event in _CHANGES


def _forked(job: Callable[[], Any], seconds: float | None = None) -> int:
    """What a fork that does the job ends with; a fault of the job itself is no kill, and shows."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if not pid:
        code = 1
        with suppress(BaseException):
            signal.alarm(_PATIENCE)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nowhere, stream)
            job()
            code = 0
        os._exit(code)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, -signal.SIGKILL), f"the job ended with {code}"
    return code
