"""One run (or mending) at a time in a directory: a file that names its owner and is touched every few seconds.

A lock whose owner is dead is taken over: at once where the owner was a process of this machine, else when the lock has
not been touched for a minute. Whoever loses the lock (a process that slept that long) finds another owner's name in it
and stops before it writes more; a shard it still wrote is a second copy of the same bytes, so nothing is lost.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event, Thread
from time import time
from typing import Self
from uuid import uuid4

from assay.errors import BadInput, Stopped

FILE = "lock"
BEAT, STALE = 2.0, 60.0
_HELD: set[str] = set()  # the tokens of the locks that this process holds


@dataclass(frozen=True)
class Owner:
    """A process, told apart from a later one with the same number by when it started."""

    host: str
    pid: int
    started: str
    token: str

    @classmethod
    def me(cls) -> Owner:
        return cls(socket.gethostname(), os.getpid(), started(os.getpid()), uuid4().hex)

    @classmethod
    def at(cls, path: Path) -> Owner | None:
        """Who holds the lock; None where nobody does or the file is still being written."""
        try:
            return cls(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    @property
    def alive(self) -> bool | None:
        """None for a process of another machine."""
        if self.host != socket.gethostname():
            return None
        if self.pid == os.getpid():  # a lock of ours that could not be removed is no lock
            return self.token in _HELD
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return started(self.pid) == self.started


def started(pid: int) -> str:
    """When a process started, in the kernel's own count; empty where the system does not say. A zombie is dead."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if after_name[0] == "Z" else after_name[19]


def held_by(directory: Path) -> Owner | None:
    """The owner of a lock that is in force."""
    path = directory / FILE
    owner = Owner.at(path)
    if owner is None or _is_stale(path, owner):
        return None
    return owner


def _is_stale(path: Path, owner: Owner | None) -> bool:
    alive = owner.alive if owner else None
    return not alive if alive is not None else _age(path) > STALE


def _age(path: Path) -> float:
    """Seconds since the last beat."""
    try:
        return _clock(path) - path.stat().st_mtime
    except OSError:
        return 0.0


def _clock(path: Path) -> float:
    """The clock of the file system; that of this machine where nothing can be written."""
    probe = path.with_name(f".{FILE}.{uuid4().hex[:8]}.part")
    try:
        probe.touch()
        return probe.stat().st_mtime
    except OSError:
        return time()
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)


class Lock:
    """Held within `with`; `require` raises where it was lost. `beat` is called at every beat."""

    def __init__(self, directory: Path, beat: Callable[[], None] = lambda: None) -> None:
        self.path, self.owner, self.beat = directory / FILE, Owner.me(), beat
        self._ended = Event()
        self._thread = Thread(target=self._keep_beating, daemon=True)

    def __enter__(self) -> Self:
        if not self._create():
            self._take_over()
        _HELD.add(self.owner.token)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        _HELD.discard(self.owner.token)
        if self._is_mine():
            with suppress(OSError):  # a lock that cannot be removed is that of a dead process, soon
                self.path.unlink(missing_ok=True)

    def require(self) -> None:
        if not self._is_mine():
            raise Stopped("another run has taken over the directory, or its lock was deleted")

    def _is_mine(self) -> bool:
        return Owner.at(self.path) == self.owner

    def _create(self) -> bool:
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            return False
        try:
            with os.fdopen(handle, "w") as stream:
                json.dump(asdict(self.owner), stream)
        except OSError:  # a lock without a name would keep everybody out
            self.path.unlink(missing_ok=True)
            raise
        return True

    def _take_over(self) -> None:
        """Only one of several takers can rename the old lock away; it must be the one that was found stale."""
        old = Owner.at(self.path)
        if not _is_stale(self.path, old):
            who = f"process {old.pid} on {old.host}" if old else "a process that is just starting"
            raise BadInput(f"{self.path.parent} is in use by {who}; wait for it, or use another directory.")
        away = self.path.with_name(f".{FILE}.{self.owner.token[:8]}.old")
        try:
            self.path.rename(away)
        except FileNotFoundError:
            pass
        else:
            taken = Owner.at(away)
            away.unlink()
            if taken != old:
                raise BadInput(f"{self.path.parent} was taken by another run at the same moment; try again.")
        if not self._create():
            raise BadInput(f"{self.path.parent} was taken by another run at the same moment; try again.")

    def _keep_beating(self) -> None:
        while not self._ended.wait(BEAT):
            try:
                if self._is_mine():
                    os.utime(self.path)
                self.beat()
            except OSError:  # a full disk or a lost directory is told by the run itself
                continue
